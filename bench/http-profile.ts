import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { readCpu, subtract } from './cpu.ts'
import { namesOfCall, teamId, toBody, toRequest } from './http-calls.ts'
import { createLoad } from './http-load.ts'

/**
 * Where the CPU of a call of 100 new names goes, in each server of bench/http.ts and in `registerDomains` alone, by a
 * sampling profile. It is taken after the compiler has come to rest. Rounds with the profiler take turns with rounds
 * without it: these say what the main thread and the other threads use, and the samples are scaled to the main thread.
 *
 * Run it with `node --import tsx bench/http-profile.ts 'Fastify 5'`.
 */
const CALLS = 1000
const WARM_UP = 8
const ROUNDS = 4
const CONNECTIONS = 16
const ALONE = 'registerDomains alone'

/** Microseconds of the processor for a call, by kind of work. */
type Spent = Record<string, number>
type Frame = Profiler.ProfileNode['callFrame']

/** A sample is of the first kind that a function on its stack matches, from the innermost to the outermost. */
const kinds: Readonly<Record<string, (frame: Frame) => boolean>> = {
  idle: ({ functionName }) => functionName === '(idle)',
  'garbage, main thread': ({ functionName }) => functionName === '(garbage collector)',
  'sending, a system call': ({ functionName, url }) => /^write/.test(functionName) && url === '',
  'digest of the key': ({ url }) => url.startsWith('node:internal/crypto'),
  'handler and adapter': ({ url }) => isOfHandler(url),
  registerDomains: ({ url }) => /\/dist\/|\/(tldts|tldts-core|zod|punycode|ipaddr\.js)\//.test(url),
  'framework and Node': ({ url }) => /^node:|\/node_modules\/|\/bench\//.test(url),
}
const OTHER = 'not in JavaScript'
const MAIN = 'main thread'
const THREADS = 'other threads'

/** A chunk of the package that was made of `src/http` or `src/keys`. */
function isOfHandler(url: string): boolean {
  if (!url.includes('/dist/')) return false
  const known = ofHandler.get(url) ?? /^\/\/ src\/(http\/|keys\/authenticate)/m.test(readFileSync(new URL(url), 'utf8'))
  ofHandler.set(url, known)
  return known
}
const ofHandler = new Map<string, boolean>()

/** @returns The share of each kind in the samples that are not idle. */
async function profile(run: () => Promise<void>): Promise<Spent> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 1000 })
  await session.post('Profiler.start')
  await run()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const { idle: _, ...busy } = addUp(profile)
  const all = Object.values(busy).reduce((total, time) => total + time, 0)
  return Object.fromEntries(Object.entries(busy).map(([kind, time]) => [kind, time / all]))
}

/** Without the profiler. */
async function count(run: () => Promise<void>): Promise<Spent> {
  const before = readCpu()
  await run()
  const { main, others } = subtract(readCpu(), before)
  return { [MAIN]: (main * 1e3) / CALLS, [THREADS]: (others * 1e3) / CALLS }
}

/** The time of all samples, by kind. */
function addUp({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Spent {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const kindOf = (id: number | undefined): string => {
    const frame = id === undefined ? undefined : frames.get(id)
    if (!frame) return OTHER
    return Object.entries(kinds).find(([, matches]) => matches(frame))?.[0] ?? kindOf(parents.get(id as number))
  }
  const kindOfNode = new Map(nodes.map(({ id }) => [id, kindOf(id)]))
  const spent: Spent = {}
  for (const [index, id] of samples.entries()) {
    const kind = kindOfNode.get(id) ?? OTHER
    spent[kind] = (spent[kind] ?? 0) + (timeDeltas[index] ?? 0)
  }
  return spent
}

type Message = 'url' | 'empty' | 'count' | 'profile' | 'stop'

/** The other end: a server, or `registerDomains` alone. */
async function serve(name: string): Promise<void> {
  const { servers, emptyStore } = await import('./http-servers.ts')
  const server = (await servers[name]?.())?.listen(0, '127.0.0.1')
  if (server) await once(server, 'listening')
  let stop = () => {}
  let spent: Promise<Spent> | undefined
  const run = server ? () => new Promise<void>(resolve => (stop = resolve)) : runAlone
  const start = async (measure: typeof count) => {
    spent = measure(run)
    if (!server) await spent
  }
  const answers: Record<Message, () => Promise<unknown>> = {
    url: async () => (server ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : ''),
    empty: async () => emptyStore(),
    count: () => start(count),
    profile: () => start(profile),
    async stop() {
      stop()
      return await spent
    },
  }
  process.on('message', async (message: Message) => process.send?.((await answers[message]()) ?? null))
  process.on('disconnect', () => process.exit())
}

async function runAlone(): Promise<void> {
  const store = createMemoryStore({ teams: [{ id: teamId, organizationId: '1', state: 'active' }] })
  for (const text of texts) {
    await registerDomains({ type: 'team', teamId, scopes: ['domains:create'] }, JSON.parse(text), store)
  }
}
const texts = Array.from({ length: CALLS }, (_, call) => toBody(namesOfCall(call)).toString())

async function measure(framework: string): Promise<void> {
  const requests = texts.map(text => toRequest(Buffer.from(text)))
  const names = [`${framework}, ours`, `${framework}, by hand`, `${framework}, bare`, ALONE]
  const children = names.map(name => {
    const child = fork(fileURLToPath(import.meta.url), [name, 'serve'], {
      execArgv: ['--import', 'tsx'],
    })
    return async (message: Message) => {
      child.send(message)
      return (await once(child, 'message'))[0]
    }
  })
  const loads = await Promise.all(
    children.map(async ask => {
      const url = await ask('url')
      return url ? await createLoad(url, CONNECTIONS) : undefined
    }),
  )
  const rounds: Spent[][] = names.map(() => [])
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const [index, ask] of children.entries()) {
      const spent: Spent = {}
      for (const measure of ['count', 'profile'] as const) {
        await ask('empty')
        // The compiler comes to rest without the profiler.
        await ask(round < WARM_UP ? 'count' : measure)
        await loads[index]?.send(requests)
        Object.assign(spent, await ask('stop'))
      }
      if (round >= WARM_UP) rounds[index]?.push(scale(spent))
    }
  }
  print(names, rounds)
  process.exit()
}

/** Shares of the main thread become microseconds. */
function scale({ [MAIN]: main = 0, [THREADS]: others = 0, ...shares }: Spent): Spent {
  const kinds = Object.entries(shares).map(([kind, share]) => [kind, share * main] as const)
  return { ...Object.fromEntries(kinds), [THREADS]: others }
}

function print(names: string[], rounds: Spent[][]): void {
  const mean = (spents: Spent[], kind: string) => spents.reduce((sum, spent) => sum + (spent[kind] ?? 0), 0) / ROUNDS
  const rows = [...Object.keys(kinds).slice(1), OTHER, THREADS]
  console.log(`| µs of CPU a call | ${names.join(' | ')} |`)
  for (const row of rows) console.log(`| ${row} | ${rounds.map(spents => mean(spents, row).toFixed(0)).join(' | ')} |`)
  const sum = (spents: Spent[]) => rows.reduce((total, row) => total + mean(spents, row), 0).toFixed(0)
  console.log(`| all | ${rounds.map(sum).join(' | ')} |`)
}

const [, script, name, role] = process.argv
if (script === fileURLToPath(import.meta.url))
  await (role === 'serve' ? serve(name as string) : measure(name ?? 'Fastify 5'))
