import { optional, type Rules } from '../options.ts'
import { findBuiltinModule } from '../runtime/builtin-module.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { type Driver, isSqliteDatabase, type SqliteDatabase, toDriver } from './driver.ts'
import { prepareTables } from './schema.ts'

/** Options of both SQLite stores. */
export interface SqliteConnectionOptions {
  /**
   * An open database: a `DatabaseSync` from `node:sqlite`, a `Database` from `better-sqlite3` or `bun:sqlite`, or the
   * `ctx.storage` of a Durable Object with SQLite storage. The stores never close the database. Give the stores their
   * own connection: they change its settings (see {@link synchronous}), and calls fail while a transaction of the
   * application is open on this connection.
   */
  database: SqliteDatabase
  /**
   * How long a call may wait for the write lock of the file, in milliseconds. The wait does not block the event loop.
   * Default 5,000.
   */
  timeLimit?: number | undefined
  /**
   * When SQLite flushes to disk. With `'full'`, SQLite flushes after each transaction, so a completed call survives a
   * power cut. With `'normal'`, SQLite flushes only at checkpoints. This is faster, but a power cut may lose the last
   * calls. With either setting, a call is never saved in part, and a crash of the process loses no calls. Default
   * `'full'`. A Durable Object ignores this option.
   */
  synchronous?: 'full' | 'normal' | undefined
}

export const connectionRules: Rules = {
  database: {
    holds: isSqliteDatabase,
    expected:
      'an open DatabaseSync from node:sqlite, a Database from better-sqlite3 or bun:sqlite, or the ctx.storage of a ' +
      'Durable Object with SQLite storage',
  },
  timeLimit: timeLimitRule,
  synchronous: { holds: optional(value => value === 'full' || value === 'normal'), expected: '"full" or "normal"' },
}

export interface SqliteConnection {
  readonly driver: Driver
  /** Calls `work`, which only reads. All statements of `work` see the same state of the database. */
  read<T>(work: () => T): Awaitable<T>
  /**
   * Calls `work` in a write transaction, as soon as the lock is free.
   *
   * @param timeLimit The time limit in milliseconds. It has no effect if it is longer than the option `timeLimit`.
   */
  transact<T>(work: () => T, timeLimit?: number): Awaitable<T>
}

const DEFAULT_LOCK_TIME_LIMIT = 5000

/** The size in bytes to which a write-ahead log is truncated after a checkpoint has emptied it. */
const LOG_SIZE_LIMIT = 64 * 1024 * 1024

/** The queue of each database, which is shared by all stores on that database. */
const queues = new WeakMap<SqliteDatabase, WriteQueue>()

/**
 * Configures the connection, and creates the tables if they are missing. Several processes may connect at once.
 *
 * @throws {Error} if the database cannot be used; the message says why.
 */
export function connect(options: SqliteConnectionOptions): SqliteConnection {
  const { database, timeLimit = DEFAULT_LOCK_TIME_LIMIT } = options
  const driver = openDriver(options, timeLimit)
  const requireSameFile = watchFile(driver)
  const queue = queues.get(database) ?? createWriteQueue()
  queues.set(database, queue)
  return {
    driver,
    read: work =>
      queue.takeFirst(() => {
        requireSameFile()
        return driver.read(work)
      }, timeLimit),
    transact: (work, limit = timeLimit) =>
      queue.take(
        () => {
          requireSameFile()
          return driver.transact(work)
        },
        Math.min(limit, timeLimit),
      ),
  }
}

/** The part of `node:fs` that is used here. */
interface FileSystem {
  statSync(path: string, options: { bigint: true; throwIfNoEntry: false }): { dev: bigint; ino: bigint } | undefined
}

/**
 * Remembers the file of a database by its device and inode. SQLite would keep writing to a file that was deleted or
 * replaced, and all calls since then would be lost.
 *
 * @returns A function that throws if another file is at the path, or none. It does nothing for a database in memory, or
 *   if the runtime has no file system.
 */
function watchFile(driver: Driver): () => void {
  const files = findBuiltinModule('node:fs') as FileSystem | undefined
  const [main] = driver.hasSettings ? driver.prepare<{ file: string | null }>('PRAGMA database_list')() : []
  const path = main?.file
  if (!files || !path) return () => {}
  const identify = () => {
    const found = files.statSync(path, { bigint: true, throwIfNoEntry: false })
    return found && `${found.dev} ${found.ino}`
  }
  const opened = identify()
  return () => {
    if (opened !== undefined && identify() !== opened)
      throw new Error('The file of the SQLite database was deleted or replaced while its store was in use; restart')
  }
}

function openDriver({ database, synchronous = 'full' }: SqliteConnectionOptions, timeLimit: number): Driver {
  try {
    const driver = toDriver(database)
    if (driver.hasSettings) {
      // At start-up, the wait for the lock is allowed to block the process.
      driver.execute(`PRAGMA busy_timeout = ${Math.ceil(timeLimit)}`)
      useWriteAheadLog(driver, timeLimit)
      driver.execute(`PRAGMA synchronous = ${synchronous}`)
      // Without a limit, the log file would not shrink again after a long read has made it grow.
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
 * If several connections switch to write-ahead logging at once, SQLite makes some of them fail immediately, because
 * they would wait for each other. If switching fails, this function waits for the write lock, and then tries again.
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

/** The queue of calls that want to write to a database. */
interface WriteQueue {
  /**
   * Calls `work` at once if possible, otherwise as soon as earlier calls are done and no other connection holds the
   * write lock.
   *
   * @param timeLimit How long `work` may wait, in milliseconds.
   * @throws {Error} with an explanation, if SQLite fails.
   */
  take<T>(work: () => T, timeLimit: number): Awaitable<T>
  /** Calls `work`, which only reads, ahead of the queue, and waits only if the database is locked. */
  takeFirst<T>(work: () => T, timeLimit: number): Awaitable<T>
}

/**
 * The longest pause between retries, in milliseconds. Pauses are random, so waiting processes do not all retry at once.
 */
const LONGEST_PAUSE = 10

/**
 * Creates a queue. While another connection holds the lock, only the first call in the queue retries, with pauses in
 * between. So the event loop keeps running even if many calls wait. SQLite's busy timeout would block the event loop.
 */
function createWriteQueue(): WriteQueue {
  /** For each waiting call, in order: a function that attempts the call, and returns whether the call is done. */
  const line: (() => boolean)[] = []
  let isServing = false
  let lock: unknown = new Error('database is locked')

  function tryAtOnce<T>(work: () => T, timeLimit: number): Awaitable<T> {
    try {
      return work()
    } catch (error) {
      if (!isLocked(error)) throw explainFailure(error)
      lock = error
      return wait(work, timeLimit)
    }
  }

  function wait<T>(work: () => T, timeLimit: number): Promise<T> {
    return new Promise((resolve, reject) => {
      function attempt(): boolean {
        try {
          resolve(work())
        } catch (error) {
          if (isLocked(error)) return false
          reject(explainFailure(error))
        }
        clearTimeout(timer)
        return true
      }
      const timer = setTimeout(() => {
        line.splice(line.indexOf(attempt), 1)
        reject(explainFailure(lock))
      }, timeLimit)
      line.push(attempt)
      if (!isServing) void serve()
    })
  }

  async function serve(): Promise<void> {
    isServing = true
    let pause = Math.random() * LONGEST_PAUSE
    while (line.length > 0) {
      await new Promise(resolve => setTimeout(resolve, pause))
      const isOver = line[0]?.()
      if (isOver) line.shift()
      pause = isOver ? 0 : Math.random() * LONGEST_PAUSE
    }
    isServing = false
  }

  return {
    take: (work, timeLimit) => (line.length > 0 ? wait : tryAtOnce)(work, timeLimit),
    takeFirst: tryAtOnce,
  }
}

/** The messages of SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html): another connection holds the lock. */
const LOCKED = /database (?:table )?is locked/

/** The error messages of SQLite, which are the same in all packages, each with its meaning for the application. */
const explanations: readonly (readonly [pattern: RegExp, explanation: string])[] = [
  [
    LOCKED,
    'Other connections held the write lock of the SQLite database for longer than the time limit; nothing was saved',
  ],
  [
    /readonly database/,
    'The SQLite database is read-only: its file or folder is write-protected, or it was opened read-only',
  ],
  [/database or disk is full/, 'The disk or the SQLite database is full; nothing was saved'],
  [/file is not a database/, 'The file is not a SQLite database, or it is encrypted'],
  [/disk image is malformed/, 'The file of the SQLite database is damaged; restore it from a backup'],
  [/unable to open database file/, 'The file of the SQLite database cannot be opened, or its folder is gone'],
  [/disk I\/O error/, 'The file of the SQLite database could not be read or written'],
  [/database.*(?:not open|closed)|closed database/i, 'The SQLite database was closed while its store was in use'],
  [
    /transaction within a transaction/,
    'A transaction was open on the handle of the SQLite database; give the store its own connection',
  ],
]

/**
 * Wraps a failure of SQLite in an error that explains to the application what has failed. Returns other errors
 * unchanged.
 */
export function explainFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  const [, explanation] = explanations.find(([pattern]) => pattern.test(cause.message)) ?? []
  return explanation === undefined ? cause : new Error(`${explanation} (${cause.message})`, { cause })
}

/** Whether a retry may succeed. */
const isLocked = (error: unknown) => error instanceof Error && LOCKED.test(error.message)
