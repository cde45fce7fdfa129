/**
 * How long a single call to register or delete names, with a body of 256 KiB, can block the event loop: the call's CPU
 * time in the handler and in each store. The figure is the minimum of several runs, so the garbage collection of
 * earlier runs does not count. While a store waits, other work may run, but the figure adds up the CPU time before and
 * after the wait. What the calls cost PostgreSQL itself is printed, and decides nothing.
 */
import { createHandler } from '../src/http/index.ts'
import { createMemoryKeyStore, createMemoryStore, type DomainStore, generateApiKey } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createSqliteStore } from '../src/sqlite/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { createRandom } from '../test/random.ts'
import { openDatabase } from '../test/sqlite/open-database.ts'
import { readCases } from '../test/vectors/read.ts'
import { createTimePostgres, report, team, timeCpu } from './measure.ts'

const LIMIT = 262_144
const RUNS = 4
/** The number of entries that are assembled at random from pieces. */
const RANDOM = 60

interface Call {
  readonly name: string
  readonly body: string
}

const toCall = (name: string, domains: readonly string[]): Call => ({ name, body: JSON.stringify({ domains }) })
const hundred = (toEntry: (index: number) => string) => Array.from({ length: 100 }, (_, index) => toEntry(index))
/** Fills each of 100 entries with copies of a piece, up to the size limit of a body. */
const fill = (piece: string, bytes = 2_500) =>
  piece.repeat(Math.max(1, Math.floor(bytes / (Buffer.byteLength(JSON.stringify(piece)) - 2))))
const deep = (labels: number, base: string) => `${'a.'.repeat(labels)}${base}`

const pieces = [
  ...'a 1 - _ . * : [ ] / @ % , ; \\ " ß İ 一 가 א ا ١ 。 １ ﷺ'.split(' '),
  ...['a.', '*.', '0x', '::', '%41', 'xn--', 'xn--a', 'xn--80ak6aa92e', '.com', 'http://', 'א．', '一。'],
  ...[' ', '\t', '\u0000', '\ud800', '\u0300', '\u0323\u0307', '\u200d', '\u094d\u200d', '\u{e0041}', '\u{1f600}'],
]

/** Entries that may be slow for a store: many long names, and many names that conflict. */
const heavy = [
  toCall(
    '100 names of 124 labels',
    hundred(index => deep(120, `${[...String(index).padStart(2, '0')].join('.')}.b.com`)),
  ),
  toCall(
    '100 wildcards, each above the next',
    hundred(index => `*.${deep(20 + index, 'n.com')}`),
  ),
  toCall(
    'wildcards and names below them',
    hundred(index => (index % 2 ? '*.' : '') + deep(120 - (index >> 1), 'n.com')),
  ),
  toCall(
    '100 wildcards in a crowded domain',
    hundred(index => `*.host-${index}.crowded.com`),
  ),
]

const random = createRandom(1)
const calls = [
  ...heavy,
  ...pieces.map(piece =>
    toCall(
      `100 × ${JSON.stringify(piece)}`,
      hundred(() => fill(piece)),
    ),
  ),
  ...Array.from({ length: RANDOM }, (_, index) =>
    toCall(
      `random call ${index}`,
      hundred(() => fill(random.shuffle(pieces).slice(0, 4).join(''), random.integer(200, 2_500))),
    ),
  ),
  ...readCases<[string]>('slow-inputs.json').map(([text]) =>
    toCall(
      JSON.stringify(text).slice(0, 40),
      hundred(() => text),
    ),
  ),
  toCall(
    'expanding labels',
    hundred(() => `${'\ufdfa'.repeat(63)}.`.repeat(7).concat('com')),
  ),
  toCall('one name of 256 KiB', [fill('a.', LIMIT - 50)]),
  toCall('one name of 256 KiB of marks', [fill('a\u0323\u0307\u0300', LIMIT - 50)]),
  toCall(
    '50,000 names',
    Array.from({ length: 50_000 }, () => 'a'),
  ),
  { name: 'arrays 130,000 deep', body: `{"domains":["a.com"],"x":${'['.repeat(130_000)}${']'.repeat(130_000)}}` },
  { name: 'numbers of 256 KiB', body: `{"domains":[${'1'.repeat(LIMIT - 50)}]}` },
  { name: 'escapes', body: `{"domains":["${'\\u0061'.repeat(43_000)}"]}` },
  { name: 'not JSON', body: '{"domains":["'.padEnd(LIMIT - 50, 'a') },
].filter(({ body }) => Buffer.byteLength(body) <= LIMIT)

const { key, hash } = await generateApiKey({ type: 'team', id: team.id })
const keys = createMemoryKeyStore()
keys.addKey({ hash, type: 'team', ownerId: team.id, scopes: ['domains:create', 'domains:delete'] })
const fields: Readonly<Record<string, string>> = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

/**
 * The longest of three calls with the same body, in milliseconds. The names are new in the first call and registered in
 * the second; the third call deletes them.
 */
async function measureOnce({ body }: Call, store: DomainStore): Promise<number> {
  const handle = createHandler({ store, keys, operations: ['create', 'delete'], onError() {} })
  const request = { header: (name: string) => fields[name], readBody: () => ({ bytes: Buffer.from(body) }) }
  const call = async (operation: 'create' | 'delete') => {
    const { status } = await handle({ ...request, operation } as never)
    if (status >= 500) throw new Error(`The response was ${status}`)
  }
  const spent: number[] = []
  for (const operation of ['create', 'create', 'delete'] as const) spent.push(await timeCpu(() => call(operation)))
  return Math.max(...spent)
}

let longest = { name: '', spent: 0 }
async function measure(call: Call, name: string, createStore: () => Promise<DomainStore>): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS; run += 1) {
    least = Math.min(least, await measureOnce(call, await createStore()))
    if (least <= longest.spent) return
  }
  longest = { name: `${call.name}, ${name}`, spent: least }
}

/** Creates a store in which 10,000 names below one registrable domain are registered. */
async function createCrowdedStore(): Promise<DomainStore> {
  const store = createMemoryStore({ teams: [team] })
  const handle = createHandler({ store, keys })
  for (let first = 0; first < 10_000; first += 100) {
    const { body } = toCall(
      '',
      hundred(index => `a.host-${first + index}.crowded.com`),
    )
    const { status } = await handle({
      header: (name: string) => fields[name],
      readBody: () => ({ bytes: Buffer.from(body) }),
    } as never)
    if (status !== 200) throw new Error(`The response was ${status}`)
  }
  return store
}

const findTeam = () => team
const createEmptyStore = async () => createMemoryStore({ teams: [team] })
for (const call of calls) await measureOnce(call, await createEmptyStore())
for (const call of calls) await measure(call, 'memory', createEmptyStore)
for (const call of heavy) await measure(call, 'crowded memory', createCrowdedStore)
for (const call of heavy) {
  await measure(call, 'SQLite', async () => createSqliteStore({ database: openDatabase(), findTeam }))
}
const server = await startServer(['-c', 'fsync=off'])
const pool = server.createPool({ max: 1, pipeline: true, idleTimeoutMillis: 0 })
async function createEmptyPostgresStore(): Promise<DomainStore> {
  await pool.query('DROP SCHEMA IF EXISTS domain_registration CASCADE')
  await migrate({ database: pool })
  return createPostgresStore({ database: pool, findTeam })
}
for (const call of heavy) {
  await measure(call, 'PostgreSQL', createEmptyPostgresStore)
  const store = await createEmptyPostgresStore()
  // `migrate`, which found no tables, has closed its connection.
  const timePostgres = await createTimePostgres(pool)
  const spent = await timePostgres(() => measureOnce(call, store))
  console.log(`${call.name}: CPU time of PostgreSQL, registered twice and deleted: ${spent.toFixed(0)} ms`)
}
await server.stop()
console.log(`longest: ${longest.name}, ${longest.spent.toFixed(1)} ms`)
report({ hold: longest.spent })
