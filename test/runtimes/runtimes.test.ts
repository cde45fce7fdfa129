import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { createKeys, createStore } from '../fixtures.ts'
import { describeHttp, type StartServer } from '../http/suite.ts'
import type { RunningServer } from '../listen.ts'
import { askHere } from './ask-here.ts'
import { bun, deno, nodes, type Runtime, why, workerd } from './runtimes.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Each server, with the server's file in `servers/`. */
const servers = [
  ['Express', 'express.js', nodes, {}],
  ['Fastify', 'fastify.js', nodes, {}],
  ['fetch under Hono', 'hono.js', nodes, {}],
  ['fetch', 'bun.js', [bun], { leavesClosing: true }],
  ['fetch', 'deno.js', [deno], { leavesClosing: true }],
] as const

for (const [adapter, file, runtimes, traits] of servers) {
  for (const runtime of runtimes) {
    describeServer(`${adapter} in ${runtime.name}`, runtime, startIn(runtime, file), traits)
  }
}
describeServer('fetch in workerd', workerd, startWorker)

function describeServer(title: string, { program }: Runtime, start: StartServer, traits = {}): void {
  if (program) describeHttp(title, start, traits)
  else test.skip(title + why, () => {})
}

const processes: ChildProcess[] = []
afterAll(() => {
  for (const each of processes) each.kill('SIGKILL')
})

function spawnRuntime({ program, run }: Runtime, parameters: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const spawned = spawn(program as string, [...run, ...parameters], {
    cwd: here,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  processes.push(spawned)
  return spawned
}

/** Resolves to the next line of output, and rejects if the process exits first. */
async function readLine(lines: Interface, from: ChildProcess): Promise<string> {
  const abort = new AbortController()
  const [line] = await Promise.race([
    once(lines, 'line', abort),
    once(from, 'exit', abort).then(([code]) => {
      throw new Error(`The server ended with ${code}`)
    }),
  ]).finally(() => abort.abort())
  return line
}

const at = (port: unknown, close: () => void): RunningServer => ({
  origin: `http://127.0.0.1:${port}`,
  close: async () => close(),
})

/** Starts all servers of a runtime in one process. */
function startIn(runtime: Runtime, file: string): StartServer {
  let started: { spawned: ChildProcess; lines: Interface } | undefined
  return async options => {
    if (!started) {
      const spawned = spawnRuntime(runtime, ['servers/main.js', file])
      started = { spawned, lines: createInterface(spawned.stdout as Readable) }
    }
    const { spawned, lines } = started
    const { settings, close } = await askHere(options)
    spawned.stdin?.write(`${settings}\n`)
    return at(await readLine(lines, spawned), close)
  }
}

/** A Worker gets its settings when it starts, so each server is a separate process. */
async function startWorker(options: Parameters<StartServer>[0]): Promise<RunningServer> {
  const { settings, close } = await askHere(options)
  const spawned = spawnRuntime(workerd, ['servers/worker.capnp'], { SETTINGS: settings })
  const { port } = JSON.parse(await readLine(createInterface(spawned.stdio[3] as Readable), spawned))
  return at(port, () => {
    spawned.kill('SIGKILL')
    close()
  })
}

describe("a call through the runtime's own fetch succeeds in", () => {
  for (const { name, program, run } of [...nodes, bun, deno]) {
    test.skipIf(!program)(name + (program ? '' : why), async () => {
      const { keys, issue } = createKeys()
      const key = await issue('team', '1')
      const server = await startIn(nodes[0], 'express.js')({ store: createStore(), keys })
      try {
        const { stdout } = await promisify(execFile)(
          program as string,
          [...run, 'client.js', `${server.origin}/v1/domains`, key],
          { cwd: here },
        )
        const [first, second] = stdout
          .trim()
          .split('\n')
          .map(line => JSON.parse(line))
        expect(first).toMatchObject({ status: 200, data: { totals: { created: 2, existing: 0, invalid: 0 } } })
        expect(second).toMatchObject({ status: 200, data: { totals: { created: 0, existing: 2, invalid: 0 } } })
      } finally {
        await server.close()
      }
    })
  }
})
