import { timeLimitRule } from '../deadline.ts'
import { optional, type Rules } from '../options.ts'
import { isSqliteDatabase, type SqliteDatabase, toDriver } from './database.ts'
import type { Driver } from './driver.ts'
import { explainFailure } from './failures.ts'
import { prepareTables } from './schema.ts'

/** What both stores in SQLite take. */
export interface SqliteConnectionOptions {
  /**
   * An open database that stays yours: a `DatabaseSync` of `node:sqlite`, a `Database` of `better-sqlite3` or
   * `bun:sqlite`, or `ctx.storage` of a Durable Object that keeps its data in SQLite. Give the stores a connection that
   * nothing else uses: they make settings for it (see {@link synchronous}), and a transaction that you leave open would
   * stop them.
   */
  database: SqliteDatabase
  /**
   * Milliseconds that a call may wait for other connections that write to the same file. The process goes on with other
   * work meanwhile. Default 5,000.
   */
  timeLimit?: number | undefined
  /**
   * When SQLite calls the disk. `'full'`: after each transaction, so that an answered call survives a power cut.
   * `'normal'`: now and then, which is faster; a power cut may then take the last calls, and nothing less than whole
   * calls, while a crash of the process takes none. Default `'full'`. A Durable Object has rules of its own.
   */
  synchronous?: 'full' | 'normal' | undefined
}

export const connectionRules: Rules = {
  database: {
    holds: isSqliteDatabase,
    expected:
      'an open DatabaseSync of node:sqlite, a Database of better-sqlite3 or bun:sqlite, or the storage of a Durable ' +
      'Object (ctx.storage) that keeps it in SQLite',
  },
  timeLimit: timeLimitRule,
  synchronous: { holds: optional(value => value === 'full' || value === 'normal'), expected: '"full" or "normal"' },
}

export interface Connection {
  readonly driver: Driver
  readonly timeLimit: number
}

const DEFAULT_TIME_LIMIT = 5000

/**
 * Milliseconds that SQLite may wait by itself, with the process standing still: for locks that are held for a moment,
 * as while the log is recovered. What waits longer is asked again, see turns.ts.
 */
const BUSY_TIMEOUT = 20

/**
 * Makes the connection's settings, and the tables where they are not there. Several processes may do so at once.
 *
 * @throws {Error} that says what is wrong with the database.
 */
export function connect(options: SqliteConnectionOptions): Connection {
  const { timeLimit = DEFAULT_TIME_LIMIT, synchronous = 'full' } = options
  try {
    const driver = toDriver(options.database)
    // At the start a process has nothing else to do than wait.
    if (driver.hasSettings) {
      driver.execute(`PRAGMA busy_timeout = ${Math.ceil(timeLimit)}`)
      useWriteAheadLog(driver)
      driver.execute(`PRAGMA synchronous = ${synchronous}`)
    }
    prepareTables(driver)
    if (driver.hasSettings) driver.execute(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`)
    return { driver, timeLimit }
  } catch (error) {
    throw explainFailure(error)
  }
}

/** With it, those who read wait for nobody (sqlite.org/wal.html). A database in memory has none, and stays as it is. */
function useWriteAheadLog(driver: Driver): void {
  const [row] = driver.prepare<{ journal_mode: string }>('PRAGMA journal_mode')()
  if (row?.journal_mode !== 'wal') driver.prepare('PRAGMA journal_mode = WAL')()
}
