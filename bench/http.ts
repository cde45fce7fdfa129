import { pathToFileURL } from 'node:url'
import autocannon, { type Result } from 'autocannon'
import { headers, namesOfCall, path, toBody } from './http-calls.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/**
 * Calls a second under load, as a share of those of the bare framework that parses the same bodies and sends an equal
 * answer. The sides take turns, each in a process of its own that begins each round with an empty store.
 *
 * Each round makes the same calls twice: the first time all names are new, the second time all of them exist, as in a
 * retry. The goal is for new names, which cost more.
 *
 * Run it with `node --import tsx bench/http.ts`.
 */
export interface Row {
  readonly work: string
  /** The median of the rounds' ratios: calls a second of ours through those of the bare framework. */
  readonly ratio: number
  /** The same of what the servers' processes computed, which tells more where the machine has other work to do. */
  readonly cpuRatio: number
  /** Medians. */
  readonly ours: Load
  readonly bare: Load
  readonly goal: string
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

const frameworks = [
  { framework: 'Express 5', goal: '≥ 0.6' },
  { framework: 'Fastify 5', goal: '≥ 0.6' },
  { framework: 'fetch under Hono 4', goal: '' },
]
const passes = ['100 new names', '100 existing names'] as const

const bodies = Array.from({ length: CALLS }, (_, call) => toBody(namesOfCall(call)))

export async function measureFramework({ framework, goal }: { framework: string; goal: string }): Promise<Row[]> {
  const names = [`${framework}, ours`, `${framework}, bare`]
  const processes = await Promise.all(names.map(startServerProcess))
  try {
    const [ours, bare] = processes as [ServerProcess, ServerProcess]
    await requireEqualAnswers(ours, bare)
    const rounds = passes.map(() => [] as { ours: Load; bare: Load }[])
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const [oursLoads, bareLoads] = [await measureRound(ours), await measureRound(bare)]
      if (round < WARM_UP) continue
      for (const [pass, loads] of rounds.entries()) {
        loads.push({ ours: oursLoads[pass] as Load, bare: bareLoads[pass] as Load })
      }
    }
    return rounds.map((loads, pass) => ({
      work: `${framework}, ${passes[pass]} a call`,
      ratio: median(loads.map(({ ours, bare }) => ours.callsPerSecond / bare.callsPerSecond)),
      cpuRatio: median(loads.map(({ ours, bare }) => bare.cpu / ours.cpu)),
      ours: medianLoad(loads.map(({ ours }) => ours)),
      bare: medianLoad(loads.map(({ bare }) => bare)),
      goal: pass === 0 ? goal : '',
    }))
  } finally {
    for (const child of processes) child.end()
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
    `${callsPerSecond.toFixed(0)}/s, ${(cpu * 1e3).toFixed(0)} µs, ${(busy * 100).toFixed(0)} %`
  console.log('Calls a second, CPU for a call, and how busy the server was; ours : bare')
  for (const framework of frameworks) {
    for (const { work, ratio, cpuRatio, ours, bare, goal } of await measureFramework(framework)) {
      console.log(
        `${work.padEnd(48)} ${ratio.toFixed(2)}  ${goal.padEnd(6)} by CPU ${cpuRatio.toFixed(2)}  ` +
          `(${format(ours)} : ${format(bare)})`,
      )
    }
  }
}
