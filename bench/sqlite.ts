import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore, type DomainStore, registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createSqliteStore, type SqliteHandle, sqliteSchema } from '../src/sqlite/index.ts'
import { createUuidGenerator } from '../src/uuid.ts'
import { startServer } from '../test/postgres/server.ts'
import { record } from './figures.ts'
import { goals } from './goals.ts'
import { BATCH, inputs, keyContext, median, nextNames, team, time, word } from './postgres.ts'

/**
 * What registering in SQLite costs, as the median of ratios to bare inserts of the same rows: files side by side on the
 * same disk, with a write-ahead log and `synchronous = FULL`. The sides take turns. Then what calls cost where a
 * million names are below one base, and calls a second of each store.
 */

const WARM_UP = 100
const ROUNDS = 300

interface TestDatabase extends SqliteHandle {
  close(): void
}
const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
  DatabaseSync: new (file: string) => TestDatabase
}
const folder = mkdtempSync(join(tmpdir(), 'sqlite-bench-'))
const open = (name: string) => new DatabaseSync(join(folder, `${name}.db`))
const findTeam = (id: string) => ({ ...team, id })

type Run = () => Promise<void>

interface Comparison {
  /** The median, round by round. */
  readonly ratio: number
  /** Of the work and of its yardstick. */
  readonly medians: string
}

/** Times two sides in turn. */
async function compare(nextTurn: () => readonly [work: Run, yardstick: Run]): Promise<Comparison> {
  const spent = { work: [] as number[], yardstick: [] as number[] }
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const [work, yardstick] = nextTurn()
    const workTime = await time(work)
    const yardstickTime = await time(yardstick)
    if (round < WARM_UP) continue
    spent.work.push(workTime)
    spent.yardstick.push(yardstickTime)
  }
  return {
    ratio: median(spent.work.map((duration, round) => duration / (spent.yardstick[round] ?? Number.NaN))),
    medians: [spent.work, spent.yardstick].map(list => `${median(list).toFixed(2)} ms`).join(' : '),
  }
}

function print(what: string, { ratio, medians }: Comparison, most?: number): void {
  console.log(`SQLite, ${what}`.padEnd(112), ratio.toFixed(2), `${most ? ` ≤ ${most}` : ''}  (${medians})`)
}

/** Prepares one statement, which saves rows as the store does. */
function createInsert(database: TestDatabase) {
  const createId = createUuidGenerator()
  const insert = database.prepare(
    `INSERT INTO domain_registration_names (domain_id, domain, registrable_domain, path, team_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  return (domain: string, teamId: string) => {
    const labels = domain.split('.')
    const row = [createId(), domain, labels.slice(-2).join('.'), labels.slice(0, -2).reverse().join('.'), teamId]
    return () => insert.run(...row, Date.now())
  }
}

/** The prepared statement, once for each row, in one transaction, into the same tables. */
function createBareInsert() {
  const database = open('yardstick')
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${sqliteSchema()}`)
  const toInsert = createInsert(database)
  return (domains: readonly string[]) => {
    const inserts = domains.map(domain => toInsert(domain, '1'))
    return async () => {
      database.exec('BEGIN IMMEDIATE')
      for (const insert of inserts) insert()
      database.exec('COMMIT')
    }
  }
}

async function register(store: DomainStore, domains: readonly string[]): Promise<void> {
  const { data } = await registerDomains(keyContext, { domains }, store)
  if (data.totals.created !== BATCH) throw new Error('The names were not new')
}

async function compareWithInserts(): Promise<void> {
  const store = createSqliteStore({ database: open('work'), findTeam })
  const insert = createBareInsert()
  for (const [work, toName] of Object.entries(inputs)) {
    const comparison = await compare(() => {
      const domains = nextNames(toName)
      return [() => register(store, domains), insert(domains)]
    })
    record('sqlite', comparison.ratio)
    print(`${work}, against prepared INSERTs`, comparison, goals.sqlite.most)
  }
}

/** Makes a file in which a team has names below one base. */
function saveCrowd(name: string, count: number): void {
  const database = open(name)
  createSqliteStore({ database, findTeam })
  const toInsert = createInsert(database)
  database.exec('BEGIN')
  for (let index = 0; index < count; index += 1) toInsert(`${word(index)}.crowd.com`, '1')()
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/** A million names below one base, against a thousand in another file, and against a base with none. */
async function compareCrowds(): Promise<void> {
  saveCrowd('crowd', 1_000_000)
  saveCrowd('few', 1000)
  await compareWildcards()
  const crowd = createSqliteStore({ database: open('crowd'), findTeam })
  const few = createSqliteStore({ database: open('few'), findTeam })
  const places = {
    elsewhere: inputs['100 new names'],
    'below that base': (index: number) => `new-${word(index)}.crowd.com`,
  }
  for (const [place, toName] of Object.entries(places)) {
    const comparison = await compare(() => {
      const domains = nextNames(toName)
      return [() => register(crowd, domains), () => register(few, domains)]
    })
    print(`100 new names ${place}, a million below a base, against a thousand`, comparison)
  }
}

/** With `synchronous = NORMAL`: over an empty base it is saved, and the disk would be all that is measured. */
async function compareWildcards(): Promise<void> {
  const crowd = createSqliteStore({ database: open('crowd'), findTeam, synchronous: 'normal' })
  const few = createSqliteStore({ database: open('few'), findTeam, synchronous: 'normal' })
  const submit = (store: DomainStore, teamId: string, domain: string, expected: string) => async () => {
    const { data } = await registerDomains({ ...keyContext, teamId }, { domains: [domain] }, store)
    const [result] = data.results
    if ((result?.status === 'invalid' ? result.code : result?.status) !== expected) throw new Error(`Not ${expected}`)
  }
  let bases = 0
  for (const [whose, teamId, code] of [
    ['own names', '1', 'subdomain_conflict'],
    ['names of another team', '2', 'domain_already_licensed'],
  ] as const) {
    const refuse = (store: DomainStore) => submit(store, teamId, '*.crowd.com', code)
    const work = `a wildcard over a million ${whose}`
    const empty = () => submit(crowd, teamId, `*.empty-${bases++}.com`, 'created')
    const comparison = await compare(() => [refuse(crowd), empty()])
    record('sqliteWildcard', comparison.ratio)
    print(`${work}, against an empty base`, comparison, goals.sqliteWildcard.most)
    print(`${work}, against a thousand`, await compare(() => [refuse(crowd), refuse(few)]))
  }
}

/** One caller, who waits for each answer. */
async function printCallsASecond(): Promise<void> {
  const server = await startServer()
  try {
    const pool = server.createPool({ max: 1, pipeline: true })
    await migrate({ pool })
    const stores: Readonly<Record<string, DomainStore>> = {
      memory: createMemoryStore({ teams: [team] }),
      'SQLite, synchronous = FULL': createSqliteStore({ database: open('full'), findTeam }),
      'SQLite, synchronous = NORMAL': createSqliteStore({ database: open('normal'), findTeam, synchronous: 'normal' }),
      'PostgreSQL, over its socket': createPostgresStore({ pool, findTeam }),
    }
    const spent = new Map(Object.keys(stores).map(name => [name, [] as number[]]))
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const domains = nextNames(inputs['100 new names'])
      for (const [name, store] of Object.entries(stores)) {
        const duration = await time(() => register(store, domains))
        if (round >= WARM_UP) spent.get(name)?.push(duration)
      }
    }
    for (const [name, durations] of spent) {
      const mean = durations.reduce((sum, duration) => sum + duration) / durations.length
      console.log(`Calls of 100 new names a second, one caller: ${name}`.padEnd(92), Math.round(1000 / mean))
    }
  } finally {
    await server.stop()
  }
}

try {
  await compareWithInserts()
  await compareCrowds()
  await printCallsASecond()
} finally {
  rmSync(folder, { recursive: true })
}
