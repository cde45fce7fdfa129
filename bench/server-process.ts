import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

/** What a server's process has used. */
export interface Usage {
  /** Milliseconds, of all its threads. */
  readonly cpu: number
  /** Bytes; after garbage collection where that was asked for. */
  readonly rss: number
  readonly heap: number
}

/** A server in a process of its own, so that the load generator takes nothing from it but a core of the machine. */
export interface ServerProcess {
  readonly url: string
  /** Collects no garbage: three collections of a full heap would be counted with the calls. */
  usage(): Promise<Usage>
  /** Collects garbage first. */
  settledUsage(): Promise<Usage>
  /** Begins anew, with a server that holds nothing; what the process learned, it keeps. */
  restart(): Promise<ServerProcess>
  end(): void
}

type Message = 'restart' | 'usage' | 'settledUsage'

export async function startServerProcess(name: string): Promise<ServerProcess> {
  const child = fork(fileURLToPath(import.meta.url), [name], { execArgv: ['--import', 'tsx', '--expose-gc'] })
  return toServerProcess(child)
}

async function toServerProcess(child: ChildProcess): Promise<ServerProcess> {
  const ask = async (message: Message) => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  return {
    url: await ask('restart'),
    usage: () => ask('usage'),
    settledUsage: () => ask('settledUsage'),
    restart: () => toServerProcess(child),
    end: () => child.kill(),
  }
}

/** The other end. */
async function serve(name: string): Promise<void> {
  const { servers } = await import('./http-servers.ts')
  const create = servers[name]
  if (!create) throw new Error(`No server ${name}`)
  let server: Server | undefined

  const answers: Record<Message, () => Promise<string | Usage>> = {
    async restart() {
      server?.close()
      server?.closeAllConnections()
      server = (await create()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    usage: async () => readUsage(),
    async settledUsage() {
      for (let run = 0; run < 3; run += 1) globalThis.gc?.()
      return readUsage()
    },
  }
  process.on('message', async (message: Message) => process.send?.(await answers[message]()))
}

function readUsage(): Usage {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  return { cpu: (user + system) / 1e3, rss, heap: heapUsed }
}

const [, script, name] = process.argv
if (script === fileURLToPath(import.meta.url) && name) await serve(name)
