import { pathToFileURL } from 'node:url'
import autocannon, { type Result } from 'autocannon'
import { startCoreProcess } from './core-process.ts'
import { headers, namesOfCall, path, toBody } from './http-calls.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/**
 * What an adapter costs under load: the CPU of the server's process for a call, against that of the bare framework,
 * which parses the same bodies and sends an equal answer, plus that of `registerDomains` alone. The three take turns,
 * each in a process of its own that begins each round with an empty store.
 *
 * Each round makes the same calls twice: the first time all names are new, the second time all of them exist, as in a
 * retry.
 *
 * Run it with `node --import tsx bench/http.ts`.
 */
export interface Row {
  readonly work: string
  /** The median of the rounds' ratios: CPU of ours through that of the bare framework plus `registerDomains` alone. */
  readonly ratio: number
  /** Milliseconds of the processor for a call of `registerDomains` alone; the median. */
  readonly core: number
  /** Medians. */
  readonly ours: Load
  readonly bare: Load
  readonly goal: number
}

interface Load {
  readonly callsPerSecond: number
  /** Milliseconds of the processor for a call. */
  readonly cpu: number
  /** How much of a core the server had: where it is below 1, the load was not full. */
  readonly busy: number
}

const CONNECTIONS = 16
const CALLS = 2000
const WARM_UP = 2
const ROUNDS = 5

export const frameworks = ['Express 5', 'Fastify 5', 'fetch under Hono 4'] as const

/** See section 10 of the design: what the adapter itself may add. */
const GOAL = 1.15
const passes = ['100 new names', '100 existing names'] as const

const bodies = Array.from({ length: CALLS }, (_, call) => toBody(namesOfCall(call)))

export async function measureFramework(framework: string): Promise<Row[]> {
  const names = [`${framework}, ours`, `${framework}, bare`]
  const core = startCoreProcess()
  const processes = await Promise.all(names.map(startServerProcess))
  try {
    const [ours, bare] = processes as [ServerProcess, ServerProcess]
    await requireEqualAnswers(ours, bare)
    const rounds = passes.map(() => [] as { ours: Load; bare: Load; core: number }[])
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const [oursLoads, bareLoads] = [await measureRound(ours), await measureRound(bare)]
      const cores = await core.measure(CALLS)
      if (round < WARM_UP) continue
      for (const [pass, loads] of rounds.entries()) {
        loads.push({ ours: oursLoads[pass] as Load, bare: bareLoads[pass] as Load, core: cores[pass] as number })
      }
    }
    return rounds.map((loads, pass) => ({
      work: `${framework}, ${passes[pass]} a call`,
      ratio: median(loads.map(({ ours, bare, core }) => ours.cpu / (bare.cpu + core))),
      core: median(loads.map(({ core }) => core)),
      ours: medianLoad(loads.map(({ ours }) => ours)),
      bare: medianLoad(loads.map(({ bare }) => bare)),
      goal: GOAL,
    }))
  } finally {
    for (const child of [core, ...processes]) child.end()
  }
}

async function measureRound(child: ServerProcess): Promise<Load[]> {
  const server = await child.restart()
  const loads: Load[] = []
  for (const _ of passes) loads.push(await measureLoad(server))
  return loads
}

async function measureLoad({ url, usage }: ServerProcess): Promise<Load> {
  let next = 0
  const before = await usage()
  const start = performance.now()
  let end = start
  const result = await new Promise<Result>((resolve, reject) => {
    const load = autocannon(
      {
        url: url + path,
        method: 'POST',
        headers,
        connections: CONNECTIONS,
        amount: CALLS,
        requests: [{ setupRequest: request => ({ ...request, body: bodies[next++] }) }],
      },
      (error, outcome) => (error ? reject(error) : resolve(outcome)),
    )
    // autocannon itself looks only once a second whether all calls were answered.
    load.on('response', () => {
      end = performance.now()
    })
  })
  const { cpu } = await usage()
  if (result['2xx'] !== CALLS || result.errors > 0) throw new Error('Not all calls of a round were answered 200')
  const [spent, elapsed] = [cpu - before.cpu, end - start]
  return { callsPerSecond: (CALLS / elapsed) * 1e3, cpu: spent / CALLS, busy: spent / elapsed }
}

/** The same status, header fields and number of bytes. */
async function requireEqualAnswers(...sides: readonly ServerProcess[]): Promise<void> {
  const answers = await Promise.all(
    sides.map(async ({ url }) => {
      const response = await fetch(url + path, { method: 'POST', headers, body: toBody(namesOfCall(0)).toString() })
      const fields = [...response.headers].filter(([name]) => name !== 'date')
      return JSON.stringify({ status: response.status, fields, bytes: (await response.arrayBuffer()).byteLength })
    }),
  )
  if (new Set(answers).size > 1) throw new Error(`The answers are not equal:\n${answers.join('\n')}`)
}

const medianLoad = (loads: readonly Load[]): Load => ({
  callsPerSecond: median(loads.map(load => load.callsPerSecond)),
  cpu: median(loads.map(load => load.cpu)),
  busy: median(loads.map(load => load.busy)),
})

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] as number

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const format = ({ callsPerSecond, cpu, busy }: Load) =>
    `${(cpu * 1e3).toFixed(0)} µs, ${callsPerSecond.toFixed(0)}/s, ${(busy * 100).toFixed(0)} % busy`
  console.log('CPU of the server for a call; ours : (bare framework + registerDomains alone)')
  for (const framework of frameworks) {
    for (const { work, ratio, core, ours, bare, goal } of await measureFramework(framework)) {
      const missed = ratio > goal ? '  MISSED' : ''
      console.log(
        `${work.padEnd(48)} ${ratio.toFixed(2)}  ≤ ${goal}${missed}  ` +
          `(${format(ours)} : ${format(bare)} + ${(core * 1e3).toFixed(0)} µs)`,
      )
      if (missed) process.exitCode = 1
    }
  }
}
