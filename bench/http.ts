import { pathToFileURL } from 'node:url'
import { startCoreProcess } from './core-process.ts'
import { type Cpu, ofAllThreads, subtract, sum } from './cpu.ts'
import { record } from './figures.ts'
import { goals } from './goals.ts'
import { headers, namesOfCall, path, toBody, toRequest } from './http-calls.ts'
import { createLoad } from './http-load.ts'
import { startServerProcess } from './server-process.ts'

/**
 * What an adapter costs under load: the CPU of the server's process for a call, against that of the bare framework,
 * which parses the same bodies and sends an equal answer, plus that of `registerDomains` alone. They take turns, slice
 * by slice, each in a process of its own that begins each round with an empty store.
 *
 * Beside it the CPU of a route written by hand in the same framework, with `registerDomains` and no more: what the sum
 * becomes in one process.
 *
 * Each round makes the same calls twice: the first time all names are new, the second time all of them exist, as in a
 * retry. Rounds count from when the compiler has come to rest: the first thousands of calls cost up to five times as
 * much, most of it compiling. So servers stay from the first round to the last, and nobody asks for a collection of
 * garbage, after which V8 compiles much of the code again.
 *
 * Run it with `node --import tsx bench/http.ts`.
 */
export interface Row {
  readonly work: string
  /** The median of the rounds' ratios: CPU of ours through that of the bare framework plus `registerDomains` alone. */
  readonly ratio: number
  /** The same, through that of the route written by hand. */
  readonly toHand: number
  /** For all calls of all rounds. */
  readonly cpu: Spent
}

type Spent = Readonly<Record<SideName, Cpu>>
type SideName = 'ours' | 'bare' | 'hand' | 'core'

/** What takes part, in a process of its own. */
interface Side {
  readonly name: SideName
  empty(): Promise<void>
  run(first: number, calls: number): Promise<Cpu>
  end(): void
}

const CONNECTIONS = 16
const SLICES = 4
const CALLS_IN_SLICE = 125
const CALLS = SLICES * CALLS_IN_SLICE
const WARM_UP = 8
const ROUNDS = 8

/** And the goals of their adapters. */
export const frameworks = { 'Express 5': 'express', 'Fastify 5': 'fastify', 'fetch under Hono 4': 'fetch' } as const
const passes = ['100 new names', '100 existing names'] as const

const requests = Array.from({ length: CALLS }, (_, call) => toRequest(toBody(namesOfCall(call))))

export async function measureFramework(framework: string): Promise<Row[]> {
  const sides: Side[] = [{ name: 'core', ...startCoreProcess() }]
  try {
    const urls: string[] = []
    for (const [name, suffix] of [
      ['ours', 'ours'],
      ['bare', 'bare'],
      ['hand', 'by hand'],
    ] as const) {
      const { side, url } = await startSide(name, `${framework}, ${suffix}`)
      sides.push(side)
      urls.push(url)
    }
    await requireEqualAnswers(urls)
    for (let round = 0; round < WARM_UP; round += 1) await measureRound(sides)
    const rounds: Spent[][] = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(sides))
    return passes.map((pass, index) =>
      toRow(
        `${framework}, ${pass} a call`,
        rounds.map(round => round[index] as Spent),
      ),
    )
  } finally {
    for (const side of sides) side.end()
  }
}

function toRow(work: string, rounds: readonly Spent[]): Row {
  const totalOf = (name: SideName) => sum(rounds.map(round => round[name]))
  const medianOf = (toRatio: (round: Spent) => number) => median(rounds.map(toRatio))
  return {
    work,
    ratio: medianOf(({ ours, bare, core }) => ofAllThreads(ours) / ofAllThreads(sum([bare, core]))),
    toHand: medianOf(({ ours, hand }) => ofAllThreads(ours) / ofAllThreads(hand)),
    cpu: { ours: totalOf('ours'), bare: totalOf('bare'), hand: totalOf('hand'), core: totalOf('core') },
  }
}

/** @returns What the calls cost, pass by pass. */
async function measureRound(sides: readonly Side[]): Promise<Spent[]> {
  for (const side of sides) await side.empty()
  const passed: Spent[] = []
  for (const _ of passes) {
    const slices: Record<SideName, Cpu[]> = { ours: [], bare: [], hand: [], core: [] }
    for (let first = 0; first < CALLS; first += CALLS_IN_SLICE) {
      for (const side of sides) slices[side.name].push(await side.run(first, CALLS_IN_SLICE))
    }
    const { ours, bare, hand, core } = slices
    passed.push({ ours: sum(ours), bare: sum(bare), hand: sum(hand), core: sum(core) })
  }
  return passed
}

async function startSide(name: SideName, server: string): Promise<{ side: Side; url: string }> {
  const child = await startServerProcess(server)
  const load = await createLoad(child.url, CONNECTIONS)
  const side: Side = {
    name,
    async empty() {
      await child.empty()
    },
    async run(first, calls) {
      const before = await child.usage()
      await load.send(requests.slice(first, first + calls))
      return subtract(await child.usage(), before)
    },
    end() {
      load.end()
      child.end()
    },
  }
  return { side, url: child.url }
}

/** The same status, header fields and number of bytes. */
async function requireEqualAnswers(urls: readonly string[]): Promise<void> {
  const answers = await Promise.all(
    urls.map(async url => {
      const response = await fetch(url + path, { method: 'POST', headers, body: toBody(namesOfCall(0)).toString() })
      const fields = [...response.headers].filter(([name]) => name !== 'date')
      return JSON.stringify({ status: response.status, fields, bytes: (await response.arrayBuffer()).byteLength })
    }),
  )
  if (new Set(answers).size > 1) throw new Error(`The answers are not equal:\n${answers.join('\n')}`)
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] as number

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const format = ({ main, others }: Cpu) =>
    [main + others, others].map(spent => ((spent * 1e3) / (ROUNDS * CALLS)).toFixed(0)).join(' / ')
  console.log('CPU of the server for a call in µs, all threads / those that compile and collect garbage')
  console.log('ours : (bare framework + registerDomains alone)')
  for (const [framework, goal] of Object.entries(frameworks)) {
    for (const { work, ratio, toHand, cpu } of await measureFramework(framework)) {
      record(goal, ratio)
      console.log(
        `${work.padEnd(44)} ${ratio.toFixed(2)}  ≤ ${goals[goal].most}  (${format(cpu.ours)} : ${format(cpu.bare)} + ` +
          `${format(cpu.core)}; a route written by hand: ${format(cpu.hand)}, ${toHand.toFixed(2)})`,
      )
    }
  }
}
