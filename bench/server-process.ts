import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Cpu, readCpu } from './cpu.ts'

/** What a server's process has used. */
export interface Usage extends Cpu {
  /** The part of it that the main thread used. The others compile and collect garbage. */
  readonly main: number
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
  /** Replaces the store with an empty one. The server stays: a new one would be compiled again. */
  empty(): Promise<void>
  end(): void
}

type Message = 'start' | 'usage' | 'settledUsage' | 'empty'

export async function startServerProcess(name: string): Promise<ServerProcess> {
  const child = fork(fileURLToPath(import.meta.url), [name], { execArgv: ['--import', 'tsx', '--expose-gc'] })
  const ask = async (message: Message) => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  return {
    url: await ask('start'),
    usage: () => ask('usage'),
    settledUsage: () => ask('settledUsage'),
    empty: () => ask('empty'),
    end: () => child.kill(),
  }
}

/** The other end. */
async function serve(name: string): Promise<void> {
  const { servers, emptyStore } = await import('./http-servers.ts')
  const create = servers[name]
  if (!create) throw new Error(`No server ${name}`)

  const answers: Record<Message, () => Promise<string | Usage>> = {
    async start() {
      const server = (await create()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    usage: async () => readUsage(),
    async settledUsage() {
      for (let run = 0; run < 3; run += 1) globalThis.gc?.()
      return readUsage()
    },
    async empty() {
      emptyStore()
      return readUsage()
    },
  }
  process.on('message', async (message: Message) => process.send?.(await answers[message]()))
}

function readUsage(): Usage {
  const { rss, heapUsed } = process.memoryUsage()
  return { ...readCpu(), rss, heap: heapUsed }
}

const [, script, name] = process.argv
if (script === fileURLToPath(import.meta.url) && name) await serve(name)
