/**
 * How long one call of 256 KiB holds the event loop, at worst: calls that were found slow, and a search that evolves
 * them. The work is all that a server does for a call: the handler with a memory store, from the bytes to the answer;
 * for what a store may take long for, with every store. Of a store that waits, all that its process does for a call
 * counts, though the waits let others in.
 * CPU time, since another program may hold the processor meanwhile; the least of some runs, since garbage of earlier
 * ones does not count.
 *
 *     npm run bench -- hold
 *     SECONDS=600 SEED=7 npm run bench -- hold
 */
import { createRequire } from 'node:module'
import { createHandler } from '../src/http/handler.ts'
import {
  classifyHostname,
  createMemoryKeyStore,
  createMemoryStore,
  type DomainStore,
  generateApiKey,
} from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createSqliteStore, type SqliteHandle } from '../src/sqlite/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { createRandom, type Random } from '../test/simulation/random.ts'
import { readCases } from '../test/vectors/read.ts'
import { record } from './figures.ts'
import { goals } from './goals.ts'
import { printHead, printRow } from './report.ts'

const LIMIT = 262_144
/** What {@link measureHold} adds. */
const TEAM_ID = '"team_id":"1",'
const RUNS = 5
const { SECONDS = '20', SEED = '1' } = process.env

/** A body: entries that are made of pieces, each repeated, so that a change of one piece changes much. */
interface Vector {
  readonly name: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const body = (domains: readonly string[], teamId?: string) => JSON.stringify({ team_id: teamId, domains })
/** As many characters as 100 entries may have, in a piece's own bytes. */
const fill = (piece: string, bytes = 2_500) =>
  piece.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(JSON.stringify(piece).slice(1, -1)))))
const hundred = (toEntry: (index: number) => string) => Array.from({ length: 100 }, (_, index) => toEntry(index))
const deep = (labels: number, index: number, base = 'com') => `${'a.'.repeat(labels)}n${index}.${base}`

const pieces: readonly string[] = [
  ...[
    'a',
    'a.',
    '*.',
    '*',
    '.',
    '-',
    '_',
    '1',
    '1.',
    '0x',
    ':',
    '::',
    '[',
    ']',
    '/',
    '@',
    '%41',
    '%',
    ' ',
    '\t',
    '\\',
    '"',
  ],
  ...[
    '\ufdfa',
    'ß',
    'İ',
    '\u0300',
    '\u0323\u0307',
    '\u200d',
    '\u094d\u200d',
    '\ufeff',
    '\u{e0041}',
    '\u{1f600}',
    '一',
    '가',
    'ᄀ',
  ],
  ...[
    'א',
    'ا',
    '١',
    '。',
    '．',
    '１',
    'xn--',
    'xn--a',
    'xn--a-0ga',
    'xn--80ak6aa92e',
    '.com',
    'http://',
    'com',
    '\ud800',
    '\u0000',
  ],
]

/** What a store may take long for: much that is long, and much that is in the way of each other. */
const heavy: readonly Vector[] = [
  {
    name: '100 names of 124 labels in one registrable domain',
    body: body(hundred(index => `${'a.'.repeat(120)}${index.toString().padStart(2, '0').split('').join('.')}.b.com`)),
  },
  {
    name: '100 wildcards of 126 labels, each above the next',
    body: body(hundred(index => `*.${deep(20 + index, 0)}`)),
  },
  {
    name: '100 wildcards and names below them',
    body: body(hundred(index => `${index % 2 ? '*.' : ''}${deep(120 - (index >> 1), 0)}`)),
  },
]

for (const { name, body: text } of heavy) {
  const { domains } = JSON.parse(text) as { domains: string[] }
  if (!domains.every(domain => classifyHostname(domain).valid)) throw new Error(`No store sees ${name}`)
}

/** A server takes 16 KiB of header fields, all together. */
const HEADER = 16_000
const headerValues = [
  'a',
  ' ',
  ',',
  ';',
  '=',
  '"',
  ';charset=',
  '; a="b\\"',
  'Bearer ',
  'svc_org_1_',
  '_',
  '1',
  '\u00ff',
]
const hostileHeaders = ['authorization', 'content-type', 'content-length'].flatMap(header =>
  headerValues.map(value => ({
    name: `${header}: ${JSON.stringify(value)} repeated`,
    body: body(['a.com']),
    headers: { [header]: `${header === 'content-type' ? 'application/json' : 'Bearer '}${fill(value, HEADER)}x` },
  })),
)

const known: readonly Vector[] = [
  ...pieces.map(piece => ({ name: `100 × ${JSON.stringify(piece)}`, body: body(hundred(() => fill(piece))) })),
  ...heavy,
  ...hostileHeaders,
  ...readCases<[string]>('slow-inputs.json').map(([text]) => ({
    name: `100 × ${JSON.stringify(text).slice(0, 40)}`,
    body: body(hundred(() => text)),
  })),
  {
    name: '100 names of 63 characters a label, all of A-labels',
    body: body(hundred(index => `${'xn--80ak6aa92e.'.repeat(14)}n${index}.com`)),
  },
  { name: '100 expanding labels', body: body(hundred(() => `${'\ufdfa'.repeat(63)}.`.repeat(7).concat('com'))) },
  { name: '100 stars and letters', body: body(hundred(() => '*'.repeat(256) + 'a'.repeat(256))) },
  ...['א．', '一。', '．．'].flatMap(labels =>
    ['http://', '/', '"'].map(end => ({
      name: `100 × 120 labels ${labels} and ${end}`,
      body: body(hundred(() => `${labels.repeat(120)}${end}`)),
    })),
  ),
  { name: 'one name of 256 KiB', body: body([fill('a.', LIMIT - 50)]) },
  { name: 'one name of 256 KiB that expands', body: body([fill('\ufdfa', LIMIT - 50)]) },
  { name: 'one name of 256 KiB of marks', body: body([fill('a\u0323\u0307\u0300', LIMIT - 50)]) },
  { name: '50,000 names', body: body(Array.from({ length: 50_000 }, () => 'a')) },
  { name: 'a team_id of 256 KiB', body: body(['a.com'], '1'.repeat(LIMIT - 50)) },
  { name: 'arrays 130,000 deep', body: `{"domains":["a.com"],"x":${'['.repeat(130_000)}${']'.repeat(130_000)}}` },
  {
    name: '20,000 fields',
    body: `{"domains":["a.com"],${Array.from({ length: 20_000 }, (_, index) => `"a${index}":1`)}}`,
  },
  { name: 'numbers of 256 KiB', body: `{"domains":[${'1'.repeat(LIMIT - 50)}]}` },
  { name: 'escapes', body: `{"domains":["${'\\u0061'.repeat(43_000)}"]}` },
  { name: 'not JSON, 256 KiB', body: '{"domains":["'.padEnd(LIMIT - 50, 'a') },
].filter(vector => Buffer.byteLength(vector.body) <= LIMIT - TEAM_ID.length)

const { key, hash } = await generateApiKey({ type: 'organization', id: '1' })
const keys = createMemoryKeyStore()
keys.addKey({ hash, type: 'organization', ownerId: '1', scopes: ['domains:create'] })
const teams = [{ id: '1', organizationId: '1', state: 'active' } as const]

const createEmptyStore = (): DomainStore => createMemoryStore({ teams })

/** CPU milliseconds of a call, least of some; each on an empty store, and once more on what it left. */
async function measureHold(vector: Vector, runs = RUNS, createStore = createEmptyStore): Promise<number> {
  const bytes = Buffer.from(vector.body.replace('{"domains"', `{${TEAM_ID}"domains"`))
  const headers: Readonly<Record<string, string>> = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...vector.headers,
  }
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run += 1) {
    const handle = createHandler({ store: createStore(), keys })
    const request = { header: (name: string) => headers[name], readBody: () => ({ bytes }) }
    let most = 0
    for (let time = 0; time < 2; time += 1) {
      const start = process.cpuUsage()
      const { status } = await handle(request)
      const { user, system } = process.cpuUsage(start)
      most = Math.max(most, (user + system) / 1000)
      if (status >= 500) throw new Error(`The call was answered ${status}`)
    }
    least = Math.min(least, most)
  }
  return least
}

/** Each vector with a store of its own names, so that a run finds none of those of the last. */
async function measureStores(): Promise<{ vector: Vector; hold: number }[]> {
  const measured: { vector: Vector; hold: number }[] = []
  const findTeam = () => teams[0] ?? null
  const server = await startServer()
  try {
    const pool = server.createPool({ max: 1, pipeline: true })
    const stores: Record<string, () => Promise<DomainStore>> = {
      async PostgreSQL() {
        await pool.query('DROP SCHEMA IF EXISTS domain_registration CASCADE')
        await migrate({ pool })
        return createPostgresStore({ pool, findTeam })
      },
    }
    // Node 20 has none: `npx node@22 --import tsx bench/hold.ts`.
    if (process.getBuiltinModule('node:sqlite')) {
      const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
        DatabaseSync: new (file: string) => SqliteHandle
      }
      stores.SQLite = async () => createSqliteStore({ database: new DatabaseSync(':memory:'), findTeam })
    }
    for (const [name, createStore] of Object.entries(stores)) {
      for (const vector of heavy) {
        const holds: number[] = []
        for (let run = 0; run < RUNS; run += 1) {
          const store = await createStore()
          holds.push(await measureHold(vector, 1, () => store))
        }
        measured.push({ vector: { ...vector, name: `${vector.name}, ${name}` }, hold: Math.min(...holds) })
      }
    }
  } finally {
    await server.stop()
  }
  return measured
}

/** Puts pieces together, or those of an entry that is slow already, in another way. */
function evolve(random: Random, parent: readonly string[]): string[] {
  const grown = random.chance(0.3) || parent.length === 0 ? [] : [...parent]
  for (let changes = random.integer(1, 3); changes > 0; changes -= 1) {
    const at = random.integer(0, grown.length)
    grown.splice(at, random.integer(0, 1), random.pick(pieces).repeat(random.pick([1, 1, 2, 7, 61, 250])))
  }
  return grown.slice(0, 8)
}

const toVector = (parts: readonly string[]): Vector => {
  const whole = parts.join('')
  return {
    name: JSON.stringify(whole).slice(0, 50),
    body: body(hundred(index => fill(whole, random.integer(200, 2_500)) + index)),
  }
}

const random = createRandom(Number(SEED))
for (const vector of known) await measureHold(vector, 2)
const measured: { vector: Vector; hold: number }[] = []
for (const vector of known) measured.push({ vector, hold: await measureHold(vector) })

let best: { parts: readonly string[]; hold: number }[] = [{ parts: [], hold: 0 }]
const end = performance.now() + Number(SECONDS) * 1000
let tried = 0
while (performance.now() < end) {
  const parts = evolve(random, random.pick(best).parts)
  const vector = toVector(parts)
  if (Buffer.byteLength(vector.body) > LIMIT - TEAM_ID.length) continue
  tried += 1
  const hold = await measureHold(vector, 2)
  best = [...best, { parts, hold }].sort((one, other) => other.hold - one.hold).slice(0, 12)
  if (best[0]?.parts === parts) measured.push({ vector, hold: await measureHold(vector) })
}

const stores = await measureStores()
const worst = measured.sort((one, other) => other.hold - one.hold).slice(0, 8)
console.log(`${known.length} calls, and ${tried} that were evolved from seed ${SEED}; CPU time of the longest`)
printHead()
for (const { vector, hold } of [...worst, ...stores]) {
  record('hold', hold)
  printRow({
    work: vector.name,
    median: `${hold.toFixed(1)} ms`,
    spread: '',
    ratio: (hold / goals.hold.most).toFixed(2),
    goal: `≤ ${goals.hold.most} ms`,
  })
}
