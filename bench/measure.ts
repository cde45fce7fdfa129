import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One way to do a piece of work, to be timed. */
export interface Contender {
  /** How many operations a run makes; times are per operation. */
  readonly operations: number
  run(): unknown
}

/** A module that can be timed: it exports makers of contenders by name, so that a process sets up only its own. */
export interface ContenderModule {
  readonly contenders: Readonly<Record<string, () => Contender | Promise<Contender>>>
}

/** Nanoseconds for an operation over the counted rounds. */
export interface Timing {
  readonly median: number
  /** The tenth and the ninetieth percentile. */
  readonly low: number
  readonly high: number
  /** Round by round against the yardstick, then the median: what the machine does to both cancels out. */
  readonly ratio: number
}

/**
 * Times contenders in turn, round by round, each in a process of its own, so that neither the machine's changes of
 * speed nor what one has taught the compiler tells on another. The first contender is the yardstick.
 */
export async function measure(
  module: URL,
  names: readonly string[],
  { rounds = 40, warmUp = 15 } = {},
): Promise<Map<string, Timing>> {
  const children = names.map(name =>
    fork(fileURLToPath(import.meta.url), [module.href, name], { execArgv: ['--import', 'tsx', '--expose-gc'] }),
  )
  try {
    await Promise.all(children.map(child => once(child, 'message')))
    const samples: number[][] = names.map(() => [])
    for (let round = 0; round < warmUp + rounds; round += 1) {
      for (const [index, child] of children.entries()) {
        child.send('run')
        const [nanoseconds] = (await once(child, 'message')) as [number]
        if (round >= warmUp) samples[index]?.push(nanoseconds)
      }
    }
    const [yardstick = []] = samples
    return new Map(
      names.map((name, index) => {
        const own = samples[index] ?? []
        return [
          name,
          {
            median: percentile(own, 0.5),
            low: percentile(own, 0.1),
            high: percentile(own, 0.9),
            ratio: percentile(
              own.map((value, round) => value / (yardstick[round] ?? Number.NaN)),
              0.5,
            ),
          },
        ]
      }),
    )
  } finally {
    for (const child of children) child.kill()
  }
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN
}

/** The other end: in a process of its own, runs one contender once for each message. */
async function serve(href: string, name: string): Promise<void> {
  const { contenders } = (await import(href)) as ContenderModule
  const make = contenders[name]
  if (!make) throw new Error(`No contender ${name}`)
  const { operations, run } = await make()
  process.on('message', async () => {
    globalThis.gc?.()
    const start = process.hrtime.bigint()
    await run()
    process.send?.(Number(process.hrtime.bigint() - start) / operations)
  })
  process.send?.('ready')
}

const [, script, href, name] = process.argv
if (script === fileURLToPath(import.meta.url) && href && name) await serve(href, name)
