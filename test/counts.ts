/**
 * How often random and long tests repeat their work: `npm test` uses the first number, and `npm run test:long` the
 * second. `TIMES=10` multiplies both numbers by ten.
 */
const table = {
  //                              short   long
  /** Random inputs for each property of hostnames. */
  properties: /*               */ [2_000, 8_000],
  /** Mutations of hostnames, of which many get a suggestion. */
  suggestions: /*              */ [3_000, 40_000],
  /** Ways to paste one name, and ways to paste two. */
  pastings: /*                 */ [300, 2_000],
  /** Random spellings of addresses, compared with Node's readings. */
  spellings: /*                */ [5_000, 40_000],
  /** Generated names and labels, compared with other implementations. */
  generatedNames: /*           */ [2_000, 40_000],
  /** Random requests of each kind. */
  fuzzedRequests: /*           */ [60, 600],
  /** Races of simultaneous calls. The results of a race must be possible in some order of its calls. */
  races: /*                    */ [6, 100],
  /** Random monitors, with processes that die or freeze, and changes of the store in memory. */
  monitors: /*                 */ [20, 300],
  /** The same in SQLite, where each takes ten times as long. */
  monitorsOfSqlite: /*         */ [3, 15],
  /** Random services that the client calls, each with its own failures. */
  services: /*                 */ [40, 150],
  /** Places at which a connection is cut. */
  cuts: /*                     */ [6, 24],
  /**
   * The maximum number of cases, of about 150 in the suite, that run with each additional PostgreSQL driver, in the
   * application's transaction, and with the stores of examples. The seed decides which cases.
   */
  casesOfDrivers: /*           */ [12, 25],
  /**
   * Code points from U+3000 on that are compared with another implementation. All code points before U+3000 are
   * compared in every run.
   */
  codePoints: /*               */ [20_000, 0x110000],
  /** Registrations that are exported or reconciled. */
  registrations: /*            */ [3_000, 200_000],
  /** Calls with keys of all kinds, made while keys are revoked. `npm test` skips this test. */
  lookups: /*                  */ [1_000, 5_000],
  /** Calls while PostgreSQL raises errors, and while queries are canceled and connections cut. */
  callsUnderFaults: /*         */ [300, 2_500],
  /** Faults that are made under a whole service. Each takes up to two minutes. */
  faults: /*                   */ [2, 2],
  /** Proxies behind which replicas are restarted under load, of three. */
  proxies: /*                  */ [1, 1],
  /** For how many seconds processes are killed at random. */
  secondsOfKilling: /*         */ [1, 25],
} as const

type Counts = Readonly<Record<keyof typeof table, number>>

export const isLong = process.env.COUNTS === 'long'
/** Whether the run is that of a week, or longer than a long run for another reason. */
export const isLonger = isLong && Number(process.env.TIMES ?? 1) > 1

export const counts = Object.fromEntries(
  Object.entries(table).map(([what, [short, long]]) => [
    what,
    Math.ceil((isLong ? long : short) * Number(process.env.TIMES ?? 1)),
  ]),
) as Counts

/** The seed of all random choices, which is printed so that a failure can be repeated. */
export const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
console.info(`SEED=${seed}`)

/** Returns approximately `most` items, evenly spaced. The seed decides which items these are. */
export function sample<Item>(items: readonly Item[], most: number): readonly Item[] {
  const step = Math.max(1, Math.ceil(items.length / most))
  return items.filter((_, index) => index % step === seed % step)
}
