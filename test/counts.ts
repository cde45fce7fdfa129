/**
 * How often what is random or long is done: few times by `npm test`, many times by `npm run test:all`, which runs
 * vitest with `--mode long`. By hand: `npx vitest run --mode long test/simulation`, and `TIMES=10` for ten times that.
 */
const table = {
  //                              short   long
  /** Inputs of each property of hostnames. */
  properties: /*               */ [2_000, 50_000],
  /** Generated names and labels, held against other implementations. */
  generatedNames: /*           */ [5_000, 100_000],
  /** Random requests of each kind. */
  fuzzedRequests: /*           */ [60, 600],
  /** Sequences of calls, on a store and on the model of it. */
  sequences: /*                */ [10, 60],
  /** Races, each explained by an order of its calls. */
  races: /*                    */ [12, 250],
  /** Schedules of calls, releases and sweeps among failures. */
  schedules: /*                */ [250, 6_000],
  /** Transactions of an application that compete for the same registrable domains. */
  transactions: /*             */ [20, 400],
  /** Places at which a connection is cut. */
  cuts: /*                     */ [10, 24],
  /** The roughly 130 cases of the conformance suite, for each additional PostgreSQL driver. */
  casesOfDrivers: /*           */ [25, 1_000],
  /** Calls that get 503 because the monitor is unavailable. */
  callsWithoutMonitor: /*      */ [1_000, 10_000],
  /** Code points from U+3000 on that are held against another implementation; all before are. */
  codePoints: /*               */ [70_000, 0x110000],
  /** Registrations that are exported, or reconciled. */
  registrations: /*            */ [10_000, 1_000_000],
  /** Times that a server or a database is killed. */
  kills: /*                    */ [3, 12],
  /** Calls with keys of all kinds while keys are revoked; `npm test` makes none. */
  lookups: /*                  */ [1_000, 5_000],
  /** Seconds for which everything is killed at random. */
  secondsOfKilling: /*         */ [3, 60],
} as const

type Counts = Readonly<Record<keyof typeof table, number>>

export const isLong = process.env.COUNTS === 'long'

export const counts = Object.fromEntries(
  Object.entries(table).map(([what, [short, long]]) => [
    what,
    Math.ceil((isLong ? long : short) * Number(process.env.TIMES ?? 1)),
  ]),
) as Counts

/** What all that is random begins with; printed, so that a failure can be run again. */
export const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
console.info(`SEED=${seed}`)

/** So many of these, spread over all of them; other ones with another seed. */
export function sample<Item>(items: readonly Item[], most: number): readonly Item[] {
  const step = Math.max(1, Math.ceil(items.length / most))
  return items.filter((_, index) => index % step === seed % step)
}
