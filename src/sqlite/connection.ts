import { timeLimitRule } from '../deadline.ts'
import { optional, type Rules } from '../options.ts'
import { isSqliteDatabase, type SqliteDatabase, toDriver } from './database.ts'
import type { Driver } from './driver.ts'
import { explainFailure } from './failures.ts'
import { prepareTables } from './schema.ts'

/** Options of both SQLite stores. */
export interface SqliteConnectionOptions {
  /**
   * An open database that stays yours: a `DatabaseSync` of `node:sqlite`, a `Database` of `better-sqlite3` or
   * `bun:sqlite`, or `ctx.storage` of a Durable Object that keeps its data in SQLite. Give the stores a connection of
   * their own: they change its settings (see {@link synchronous}), and a transaction left open would block them.
   */
  database: SqliteDatabase
  /**
   * Milliseconds that a call may wait for the write lock of the file. It does not block the event loop meanwhile.
   * Default 5,000.
   */
  timeLimit?: number | undefined
  /**
   * When SQLite flushes to disk. `'full'`: after each transaction, so that an answered call survives a power cut.
   * `'normal'`: at checkpoints only, which is faster; a power cut may then lose the last calls, each as a whole. A
   * crash of the process loses none. Default `'full'`. A Durable Object ignores this and has rules of its own.
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
 * Milliseconds that SQLite itself may wait for a lock, which blocks the event loop. Enough for locks that are held for
 * a moment, as while the log is recovered. For longer ones, see turns.ts.
 */
const BUSY_TIMEOUT = 20

/**
 * Sets the connection up, and creates the tables if they are missing. Several processes may do so at once.
 *
 * @throws {Error} if the database cannot be used; it says why.
 */
export function connect(options: SqliteConnectionOptions): Connection {
  const { timeLimit = DEFAULT_TIME_LIMIT, synchronous = 'full' } = options
  try {
    const driver = toDriver(options.database)
    // At start-up the process may block.
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

/** With write-ahead logging, readers wait for nobody (sqlite.org/wal.html). A database in memory has no log. */
function useWriteAheadLog(driver: Driver): void {
  const [row] = driver.prepare<{ journal_mode: string }>('PRAGMA journal_mode')()
  if (row?.journal_mode !== 'wal') driver.prepare('PRAGMA journal_mode = WAL')()
}
