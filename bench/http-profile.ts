import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { type Profiler, Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { namesOfCall, teamId, toBody, toRequest } from './http-calls.ts'
import { createLoad, type Load } from './http-load.ts'

/**
 * Where the CPU of a call of 100 new names goes, in each server of bench/http.ts and in `registerDomains` alone, by a
 * sampling profile. Samples are scaled to the CPU of the main thread; that of the other threads is a row of its own.
 *
 * Run it with `node --import tsx bench/http-profile.ts 'Fastify 5'`.
 */
const CALLS = 1000
const WARM_UP = 2
const ROUNDS = 2
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
const THREADS = 'other threads'

/** A chunk of the package that was made of `src/http` or `src/keys`. */
function isOfHandler(url: string): boolean {
  if (!url.includes('/dist/')) return false
  const known = ofHandler.get(url) ?? /^\/\/ src\/(http\/|keys\/authenticate)/m.test(readFileSync(new URL(url), 'utf8'))
  ofHandler.set(url, known)
  return known
}
const ofHandler = new Map<string, boolean>()

async function profile(run: () => Promise<void>): Promise<Spent> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 1000 })
  await session.post('Profiler.start')
  const before = readUsage()
  await run()
  const after = readUsage()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const spent = addUp(profile)
  const { idle: _, ...busy } = spent
  const samples = Object.values(busy).reduce((sum, time) => sum + time, 0)
  const main = after.main - before.main
  const scaled = Object.entries(busy).map(([kind, time]) => [kind, ((time / samples) * main) / CALLS] as const)
  return { ...Object.fromEntries(scaled), [THREADS]: (after.all - before.all - main) / CALLS }
}

/** Microseconds of the processor. */
function readUsage(): { main: number; all: number } {
  const { user, system } = process.cpuUsage()
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  return { main: Number(nanoseconds) / 1e3, all: user + system }
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

type Message = 'restart' | 'start' | 'stop'

/** The other end: a server, or `registerDomains` alone. */
async function serve(name: string): Promise<void> {
  let stop = () => {}
  let spent: Promise<Spent> | undefined
  let server: Server | undefined
  const { servers } = await import('./http-servers.ts')
  const answers: Record<Message, () => Promise<unknown>> = {
    async restart() {
      server?.close()
      server?.closeAllConnections()
      server = (await servers[name]?.())?.listen(0, '127.0.0.1')
      if (server) await once(server, 'listening')
      for (let run = 0; run < 3; run += 1) globalThis.gc?.()
      return server ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : ''
    },
    async start() {
      const run = server ? () => new Promise<void>(resolve => (stop = resolve)) : runAlone
      spent = profile(run)
      return server ? '' : await spent
    },
    async stop() {
      stop()
      return await spent
    },
  }
  process.on('message', async (message: Message) => process.send?.(await answers[message]()))
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
      execArgv: ['--import', 'tsx', '--expose-gc'],
    })
    return async (message: Message) => {
      child.send(message)
      return (await once(child, 'message'))[0]
    }
  })
  const rounds: Spent[][] = names.map(() => [])
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const [index, ask] of children.entries()) {
      const url = await ask('restart')
      const load: Load | undefined = url ? await createLoad(url, CONNECTIONS) : undefined
      const started = await ask('start')
      await load?.send(requests)
      const spent = load ? await ask('stop') : started
      load?.end()
      if (round >= WARM_UP) rounds[index]?.push(spent)
    }
  }
  print(names, rounds)
  process.exit()
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
