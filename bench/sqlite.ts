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
import { BATCH, inputs, keyContext, median, nextNames, team, time } from './postgres.ts'

/**
 * What registering in SQLite costs, as the median of ratios to bare inserts of the same rows: files side by side on the
 * same disk, with a write-ahead log and `synchronous = FULL`. The sides take turns. Then calls a second of each store.
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
const findTeam = () => team

/** One prepared statement, once for each row, in one transaction, into the same tables. */
function createBareInsert() {
  const database = open('yardstick')
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${sqliteSchema()}`)
  const createId = createUuidGenerator()
  const insert = database.prepare(
    `INSERT INTO domain_registration_names (domain_id, domain, registrable_domain, path, team_id, created_at)
     VALUES (?, ?, ?, ?, '1', ?)`,
  )
  return (domains: readonly string[]) => {
    const rows = domains.map(domain => {
      const labels = domain.split('.')
      return [createId(), domain, labels.slice(-2).join('.'), labels.slice(0, -2).reverse().join('.'), Date.now()]
    })
    return async () => {
      database.exec('BEGIN IMMEDIATE')
      for (const row of rows) insert.run(...(row as string[]))
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
    const spent = { work: [] as number[], yardstick: [] as number[] }
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const domains = nextNames(toName)
      const workTime = await time(() => register(store, domains))
      const yardstickTime = await time(insert(domains))
      if (round < WARM_UP) continue
      spent.work.push(workTime)
      spent.yardstick.push(yardstickTime)
    }
    const ratio = median(spent.work.map((duration, round) => duration / (spent.yardstick[round] ?? Number.NaN)))
    record('sqlite', ratio)
    const medians = [spent.work, spent.yardstick].map(list => `${median(list).toFixed(2)} ms`).join(' : ')
    console.log(`SQLite, ${work}, against prepared INSERTs`.padEnd(92), ratio.toFixed(2), ` ≤ 1.6  (${medians})`)
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
  await printCallsASecond()
} finally {
  rmSync(folder, { recursive: true })
}
