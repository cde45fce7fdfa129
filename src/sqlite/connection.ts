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
   * `bun:sqlite`, or `ctx.storage` of a Durable Object with SQLite storage. Give the stores a connection of their own:
   * they change its settings (see {@link synchronous}), and an open transaction would block them.
   */
  database: SqliteDatabase
  /**
   * Milliseconds that a call may wait for the write lock of the file, without blocking the event loop. Default 5,000.
   */
  timeLimit?: number | undefined
  /**
   * When SQLite flushes to disk. `'full'`: after each transaction, so a completed call survives a power cut.
   * `'normal'`: only at checkpoints, which is faster; a power cut may then lose the last calls, each as a whole. A
   * crash of the process loses none. Default `'full'`. A Durable Object ignores this option.
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
  /** Runs work that only reads and sees one state of the database. */
  ask<T>(work: () => T): Awaitable<T>
  /**
   * Runs work in a write transaction, once the lock is free.
   *
   * @param timeLimit Milliseconds, if shorter than the option.
   */
  transact<T>(work: () => T, timeLimit?: number): Awaitable<T>
}

const DEFAULT_LOCK_TIME_LIMIT = 5000

/** The size in bytes to which a checkpoint truncates an empty write-ahead log. */
const LOG_SIZE_LIMIT = 64 * 1024 * 1024

/** By database: all stores on it share one queue. */
const turnsOf = new WeakMap<SqliteDatabase, Turns>()

/**
 * Configures the connection, and creates the tables if they are missing. Several processes may do so at once.
 *
 * @throws {Error} that says why the database cannot be used.
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
      // Otherwise the log would keep its size after a long read.
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
 * With write-ahead logging, readers never wait (sqlite.org/wal.html). A database in memory has no log.
 *
 * If several connections switch to it at once, SQLite fails some immediately, because they would wait for each other.
 * Here they wait for the write lock, and check again.
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
