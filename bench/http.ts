import { pathToFileURL } from 'node:url'
import { startCoreProcess } from './core-process.ts'
import { record } from './figures.ts'
import { goals } from './goals.ts'
import { headers, namesOfCall, path, toBody, toRequest } from './http-calls.ts'
import { createLoad, type Load } from './http-load.ts'
import { startServerProcess } from './server-process.ts'

/**
 * What an adapter costs under load: the CPU of the server's process for a call, against that of the bare framework,
 * which parses the same bodies and sends an equal answer, plus that of `registerDomains` alone. They take turns, slice
 * by slice, each in a process of its own that begins each round with an empty store and a collected heap.
 *
 * Beside it the CPU of a route written by hand in the same framework, with `registerDomains` and no more: what the sum
 * becomes in one process, where a call finds the caches as the framework and the system left them.
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
  /** The same, through that of the route written by hand. */
  readonly toHand: number
  /** Medians, in milliseconds of the processor for a call. */
  readonly cpu: Spent
}

type Spent = Readonly<Record<SideName, number>>
type SideName = 'ours' | 'bare' | 'hand' | 'core'

/** What takes part, in a process of its own. */
interface Side {
  readonly name: SideName
  restart(): Promise<void>
  /** @returns Milliseconds of the processor for these calls. */
  run(first: number, calls: number): Promise<number>
  end(): void
}

const CONNECTIONS = 16
const SLICES = 6
const CALLS_IN_SLICE = 125
const CALLS = SLICES * CALLS_IN_SLICE
const WARM_UP = 1
const ROUNDS = 3

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
    const rounds: Spent[][] = []
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const spent = await measureRound(sides)
      if (round >= WARM_UP) rounds.push(spent)
    }
    return passes.map((pass, index) => {
      const spent = rounds.map(round => round[index] as Spent)
      const medianOf = (name: SideName) => median(spent.map(round => round[name]))
      return {
        work: `${framework}, ${pass} a call`,
        ratio: median(spent.map(({ ours, bare, core }) => ours / (bare + core))),
        toHand: median(spent.map(({ ours, hand }) => ours / hand)),
        cpu: { ours: medianOf('ours'), bare: medianOf('bare'), hand: medianOf('hand'), core: medianOf('core') },
      }
    })
  } finally {
    for (const side of sides) side.end()
  }
}

/** @returns What a call cost, pass by pass. */
async function measureRound(sides: readonly Side[]): Promise<Spent[]> {
  for (const side of sides) await side.restart()
  const passed: Spent[] = []
  for (const _ of passes) {
    const spent = { ours: 0, bare: 0, hand: 0, core: 0 }
    for (let first = 0; first < CALLS; first += CALLS_IN_SLICE) {
      for (const side of sides) spent[side.name] += (await side.run(first, CALLS_IN_SLICE)) / CALLS
    }
    passed.push(spent)
  }
  return passed
}

async function startSide(name: SideName, server: string): Promise<{ side: Side; url: string }> {
  const child = await startServerProcess(server)
  let load: Load | undefined
  const side: Side = {
    name,
    async restart() {
      load?.end()
      const { url, settledUsage } = await child.restart()
      load = await createLoad(url, CONNECTIONS)
      await settledUsage()
    },
    async run(first, calls) {
      const before = await child.usage()
      await load?.send(requests.slice(first, first + calls))
      return (await child.usage()).cpu - before.cpu
    },
    end() {
      load?.end()
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
  const format = (milliseconds: number) => `${(milliseconds * 1e3).toFixed(0)} µs`
  console.log('CPU of the server for a call; ours : (bare framework + registerDomains alone)')
  for (const [framework, goal] of Object.entries(frameworks)) {
    for (const { work, ratio, toHand, cpu } of await measureFramework(framework)) {
      record(goal, ratio)
      console.log(
        `${work.padEnd(48)} ${ratio.toFixed(2)}  ≤ ${goals[goal].most}  (${format(cpu.ours)} : ${format(cpu.bare)} + ` +
          `${format(cpu.core)}; a route written by hand: ${format(cpu.hand)}, ${toHand.toFixed(2)})`,
      )
    }
  }
}
