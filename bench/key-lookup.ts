/** How long a refusal takes, by what is known of the key: it must not tell a guess that is close, or was right once. */
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { createHandler } from 'domain-registration/http'

/** Keys of each kind, all of the same length. */
const KEYS = 500
const CALLS_FOR_EACH_KEY = 8
/** Calls before any are counted. */
const WARM_UP = 2000

/** Where the keys of one kind stand. */
interface Distribution {
  readonly kind: string
  readonly status: number
  /** Nanoseconds, sorted. */
  readonly times: Float64Array
}

async function collect(): Promise<Distribution[]> {
  const keys = createMemoryKeyStore()
  const create = async (stored?: { revokedAt?: Date; scopes: string[] }) => {
    const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
    if (stored) keys.addKey({ hash, type: 'team', ownerId: '1', ...stored })
    return key
  }
  const many = (make: () => Promise<string>) => Promise.all(Array.from({ length: KEYS }, make))
  const present = await many(() => create({ scopes: [] }))
  const kinds = [
    { kind: 'absent', status: 401, keys: await many(() => create()) },
    { kind: 'absent, all but its last character right', status: 401, keys: present.map(changeLast) },
    { kind: 'revoked', status: 401, keys: await many(() => create({ scopes: [], revokedAt: new Date() })) },
    { kind: 'present, without the scope', status: 403, keys: present },
  ]

  const handle = createHandler({ store: createMemoryStore(), keys })
  async function time(key: string, expected: number): Promise<number> {
    const authorization = `Bearer ${key}`
    const request = {
      header: (name: string) => (name === 'authorization' ? authorization : null),
      readBody: () => ({ text: '{}' }),
    }
    const start = process.hrtime.bigint()
    const { status } = await handle(request)
    const end = process.hrtime.bigint()
    if (status !== expected) throw new Error(`Answered ${status}, not ${expected}`)
    return Number(end - start)
  }

  const calls = kinds.flatMap(({ status, keys }, kind) =>
    keys.flatMap(key => Array.from({ length: CALLS_FOR_EACH_KEY }, () => ({ kind, key, status }))),
  )
  const times = kinds.map(() => [] as number[])
  for (const { key, status } of shuffled(calls).slice(0, WARM_UP)) await time(key, status)
  // In random order, so that what the machine does falls on all kinds alike.
  for (const { kind, key, status } of shuffled(calls)) times[kind]?.push(await time(key, status))
  return kinds.map(({ kind, status }, index) => ({ kind, status, times: Float64Array.from(times[index] ?? []).sort() }))
}

const changeLast = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map(value => ({ value, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value)
}

/**
 * How often a time of the one is longer than a time of the other, ties counted half: 0.5 where the times tell nothing
 * (the statistic of Mann and Whitney, divided by the number of pairs). Both sorted.
 */
function shareLonger(these: Float64Array, those: Float64Array): number {
  let below = 0
  let upTo = 0
  let pairs = 0
  for (const value of these) {
    while ((those[below] ?? Number.POSITIVE_INFINITY) < value) below += 1
    while ((those[upTo] ?? Number.POSITIVE_INFINITY) <= value) upTo += 1
    pairs += (below + upTo) / 2
  }
  return pairs / (these.length * those.length)
}

const microseconds = (times: Float64Array, share: number) =>
  `${((times[Math.floor((times.length - 1) * share)] ?? Number.NaN) / 1e3).toFixed(2)} µs`

/** Prints a table of its own: quartiles, and whether the times of a kind can be told from those of an absent key. */
export async function printKeyLookup(): Promise<void> {
  const distributions = await collect()
  const [absent] = distributions
  if (!absent) return
  const n = absent.times.length
  // Of two samples of the same distribution 95 in 100 stay within this.
  const noise = 1.96 * Math.sqrt((2 * n + 1) / (12 * n * n))
  console.log(
    `\nTime to refuse a key, ${n} calls each; longer than for an absent key: 0.5 ± ${noise.toFixed(3)} is chance`,
  )
  const print = (...[kind, ...columns]: string[]) =>
    console.log(`${kind?.padEnd(60)} ${columns.map(column => column.padStart(12)).join('')}`)
  print('API key', 'status', '25 %', 'median', '75 %', 'longer')
  for (const { kind, status, times } of distributions) {
    const quartiles = [0.25, 0.5, 0.75].map(share => microseconds(times, share))
    print(kind, String(status), ...quartiles, shareLonger(times, absent.times).toFixed(3))
  }
}
