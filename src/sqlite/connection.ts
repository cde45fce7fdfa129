import { optional, type Rules } from '../options.ts'
import { findBuiltinModule } from '../runtime/builtin-module.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { createTeamLines } from '../time/team-lines.ts'
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
   * @param teamId The team whose call this is.
   * @param timeLimit The time limit in milliseconds. It has no effect if it is longer than the option `timeLimit`.
   */
  transact<T>(work: () => T, teamId?: string, timeLimit?: number): Awaitable<T>
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
      queue.takeFirst({
        work() {
          requireSameFile()
          return driver.read(work)
        },
        timeLimit,
      }),
    transact: (work, teamId, limit = timeLimit) =>
      queue.take({
        work() {
          requireSameFile()
          const result = driver.transact(work)
          // What was written to a deleted file is lost, so it must not be reported as saved.
          requireSameFile()
          return result
        },
        teamId,
        timeLimit: Math.min(limit, timeLimit),
      }),
  }
}

/** The part of `node:fs` that is used here. */
interface FileSystem {
  statSync(path: string, options: { bigint: true; throwIfNoEntry: false }): { dev: bigint; ino: bigint } | undefined
}

/**
 * Remembers the file of a database and its log by their devices and inodes. SQLite would keep writing to a file that
 * was deleted or replaced, and all calls since then would be lost.
 *
 * While a connection is open, SQLite never deletes its log, unless another SQLite library in this process has closed a
 * connection to the file, and with it all locks of the process (sqlite.org/howtocorrupt.html, section 2.2.1).
 *
 * @returns A function that throws if another file is at a path, or none. It does nothing for a database in memory, or
 *   if the runtime has no file system.
 */
function watchFile(driver: Driver): () => void {
  const files = findBuiltinModule('node:fs') as FileSystem | undefined
  const [main] = driver.hasSettings ? driver.prepare<{ file: string | null }>('PRAGMA database_list')() : []
  const path = main?.file
  if (!files || !path) return () => {}
  const identify = (file: string) => {
    const found = files.statSync(file, { bigint: true, throwIfNoEntry: false })
    return found && `${found.dev} ${found.ino}`
  }
  const watched = [
    { file: path, what: 'file', advice: 'restart' },
    { file: `${path}-wal`, what: 'log', advice: 'restart, and open the file with one SQLite library only' },
  ]
    .map(each => ({ ...each, opened: identify(each.file) }))
    .filter(({ opened }) => opened !== undefined)
  return () => {
    const lost = watched.find(({ file, opened }) => identify(file) !== opened)
    if (!lost) return
    const { what, advice } = lost
    throw new Error(`The ${what} of the SQLite database was deleted or replaced while its store was in use; ${advice}`)
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

interface Call<T> {
  work(): T
  /** Absent if this is not a call of one team. */
  readonly teamId?: string | undefined
  /** How long `work` may wait, in milliseconds. */
  readonly timeLimit: number
}

/** The queue of calls that want to write to a database. */
interface WriteQueue {
  /**
   * Calls `work` at once if possible, otherwise as soon as it is its turn and no other connection holds the write lock.
   *
   * @throws {Error} with an explanation, if SQLite fails, or at once if too many calls of the team wait.
   */
  take<T>(call: Call<T>): Awaitable<T>
  /** Calls `work`, which only reads, ahead of the queue, and waits only if the database is locked. */
  takeFirst<T>(call: Call<T>): Awaitable<T>
}

/**
 * The longest pause between retries, in milliseconds. Pauses are random, so waiting processes do not all retry at once.
 */
const LONGEST_PAUSE = 10

/**
 * Creates a queue. While another connection holds the lock, only one call retries, with pauses in between. So the event
 * loop keeps running even if many calls wait. SQLite's busy timeout would block the event loop.
 *
 * The others wait, and the teams take turns. If 10,000 calls of a team wait, its next call fails at once.
 */
function createWriteQueue(): WriteQueue {
  /** Functions that attempt a call, and return whether the call is over. */
  const waiting = createTeamLines<() => boolean>()
  /** How many calls wait, including the one that retries. */
  let count = 0
  let isServing = false
  let lock: unknown = new Error('database is locked')

  function tryAtOnce<T>(call: Call<T>): Awaitable<T> {
    try {
      return call.work()
    } catch (error) {
      if (!isLocked(error)) throw explainFailure(error)
      lock = error
      return wait(call)
    }
  }

  function wait<T>({ work, teamId = '', timeLimit }: Call<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false
      function end(): void {
        isOver = true
        count -= 1
        clearTimeout(timer)
      }
      function attempt(): boolean {
        if (isOver) return true
        try {
          resolve(work())
        } catch (error) {
          if (isLocked(error)) return false
          reject(explainFailure(error))
        }
        end()
        return true
      }
      if (!waiting.add(teamId, attempt)) {
        reject(new Error('Too many calls of one team wait for the SQLite database already'))
        return
      }
      count += 1
      const timer = setTimeout(() => {
        end()
        waiting.delete(teamId, attempt)
        reject(explainFailure(lock))
      }, timeLimit)
      if (!isServing) void serve()
    })
  }

  async function serve(): Promise<void> {
    isServing = true
    let pause = Math.random() * LONGEST_PAUSE
    for (let attempt = waiting.take(); attempt; ) {
      await new Promise(resolve => setTimeout(resolve, pause))
      const isOver = attempt()
      if (isOver) attempt = waiting.take()
      pause = isOver ? 0 : Math.random() * LONGEST_PAUSE
    }
    isServing = false
  }

  return {
    take: call => (count > 0 ? wait : tryAtOnce)(call),
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
