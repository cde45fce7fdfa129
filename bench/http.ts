/**
 * The cost of an adapter under load: the CPU time of the server's process for calls of 100 names. Each adapter is
 * compared with a hand-written route in the same framework, which calls `registerDomains` and does nothing else. Both
 * servers are separate processes and take turns. Half of the calls contain new names, and the other half repeat them.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { GoalName } from './goals.ts'
import { apiKey, path, type ServerName } from './http-server.ts'
import { compare, newNames, report } from './measure.ts'

const CONNECTIONS = 16
const CALLS = 250
/** The compiler needs about 4,000 calls to optimize everything. */
const TURNS = { warmUp: 8, rounds: 16 }

interface Server {
  readonly url: string
  readonly child: ChildProcess
}

async function start(name: ServerName): Promise<Server> {
  const child = fork(fileURLToPath(new URL('http-server.ts', import.meta.url)), [name], {
    execArgv: ['--import', 'tsx'],
  })
  const [url] = (await once(child, 'message')) as [string]
  return { url, child }
}

/** CPU time of the server, in milliseconds. */
async function readUsage({ child }: Server, message: 'usage' | 'empty'): Promise<number> {
  child.send(message)
  return (await once(child, 'message'))[0]
}

async function load(server: Server, bodies: readonly string[]): Promise<number> {
  const before = await readUsage(server, 'empty')
  let next = 0
  async function call() {
    while (next < bodies.length) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: bodies[next++] as string,
      })
      if (response.status !== 200) throw new Error(`The response was ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, call))
  return (await readUsage(server, 'usage')) - before
}

function makeBodies(): string[] {
  const bodies = Array.from({ length: CALLS }, () => JSON.stringify({ domains: newNames() }))
  return [...bodies, ...bodies]
}

const figures: Partial<Record<GoalName, number>> = {}
for (const framework of ['express', 'fastify', 'fetch'] as const) {
  const [ours, byHand] = await Promise.all([start(`${framework}, ours`), start(`${framework}, by hand`)])
  figures[framework] = await compare(
    makeBodies,
    TURNS,
    bodies => load(ours, bodies),
    bodies => load(byHand, bodies),
  )
  for (const { child } of [ours, byHand]) child.kill()
}
report(figures)
