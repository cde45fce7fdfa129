import { optional, type Rules } from '../options.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { type Driver, isSqliteDatabase, type SqliteDatabase, toDriver } from './driver.ts'
import { explainFailure, isLocked } from './failures.ts'
import { prepareTables } from './schema.ts'
import { createTurns, type Turns } from './turns.ts'

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

export interface SqliteConnection {
  readonly driver: Driver
  /** Runs work that only reads: all of it sees one state of the database. */
  ask<T>(work: () => T): Awaitable<T>
  /**
   * Runs work in a write transaction, once the lock is free.
   *
   * @param timeLimit Milliseconds, if less than the option.
   */
  transact<T>(work: () => T, timeLimit?: number): Awaitable<T>
}

const DEFAULT_LOCK_TIME_LIMIT = 5000

/** The bytes to which a checkpoint cuts a write-ahead log that it has emptied. */
const LOG_SIZE_LIMIT = 64 * 1024 * 1024

/** By database: all stores on it wait in one line. */
const turnsOf = new WeakMap<SqliteDatabase, Turns>()

/**
 * Sets the connection up, and creates the tables if they are missing. Several processes may do so at once.
 *
 * @throws {Error} if the database cannot be used; it says why.
 */
export function connect(options: SqliteConnectionOptions): SqliteConnection {
  const { database, timeLimit = DEFAULT_LOCK_TIME_LIMIT } = options
  const driver = openDriver(options, timeLimit)
  const turns = turnsOf.get(database) ?? createTurns()
  turnsOf.set(database, turns)
  return {
    driver,
    ask: work => turns.takeFirst(() => driver.read(work), timeLimit),
    transact: (work, limit = timeLimit) => turns.take(() => driver.transact(work), Math.min(limit, timeLimit)),
  }
}

function openDriver({ database, synchronous = 'full' }: SqliteConnectionOptions, timeLimit: number): Driver {
  try {
    const driver = toDriver(database)
    if (driver.hasSettings) {
      // At start-up the process may block.
      driver.execute(`PRAGMA busy_timeout = ${Math.ceil(timeLimit)}`)
      useWriteAheadLog(driver, timeLimit)
      driver.execute(`PRAGMA synchronous = ${synchronous}`)
      // After a long reader, the log would keep its size for ever.
      driver.prepare(`PRAGMA journal_size_limit = ${LOG_SIZE_LIMIT}`)()
    }
    prepareTables(driver)
    if (driver.hasSettings) driver.execute('PRAGMA busy_timeout = 0')
    return driver
  } catch (error) {
    throw explainFailure(error)
  }
}

/**
 * With write-ahead logging, readers wait for nobody (sqlite.org/wal.html). A database in memory has no log.
 *
 * Of several connections that switch to it at once, SQLite refuses some without waiting, since they would wait for each
 * other. They wait for the write lock here, and look again.
 */
function useWriteAheadLog(driver: Driver, timeLimit: number): void {
  const end = performance.now() + timeLimit
  for (;;) {
    try {
      const [row] = driver.prepare<{ journal_mode: string }>('PRAGMA journal_mode')()
      if (row?.journal_mode !== 'wal') driver.prepare('PRAGMA journal_mode = WAL')()
      return
    } catch (error) {
      if (!isLocked(error) || performance.now() > end) throw error
      driver.transact(() => {})
    }
  }
}
