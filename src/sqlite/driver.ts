import { hasMethods } from '../options.ts'

/** A value of a column or parameter. */
export type SqliteValue = string | number | null

/** A `DatabaseSync` from `node:sqlite`, or a `Database` from `better-sqlite3` or `bun:sqlite`. */
export interface SqliteHandle {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/**
 * A prepared statement of a {@link SqliteHandle}. It gets only values of {@link SqliteValue}; but where that stands,
 * TypeScript 5 rejects the statements of better-sqlite3.
 */
export interface SqliteStatement {
  all(...values: unknown[]): unknown[]
  run(...values: unknown[]): unknown
  /**
   * Whether the statement returns rows. For statements that return no rows, `better-sqlite3` requires `run` instead of
   * `all`.
   */
  readonly reader?: boolean | undefined
}

/** The storage of a Durable Object with SQLite: `ctx.storage`. */
export interface DurableObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } }
  transactionSync<T>(work: () => T): T
}

/** A database that the stores accept. The types describe only the methods that the stores call. */
export type SqliteDatabase = SqliteHandle | DurableObjectStorage

/** Runs a prepared statement and returns its rows. */
export type RunStatement<Row> = (...values: readonly SqliteValue[]) => readonly Row[]

/** The operations that the stores need from a SQLite package. All are synchronous. */
export interface Driver {
  /** Runs one or more statements without parameters. */
  execute(sql: string): void
  /** Prepares one statement. In the SQL, each parameter is a question mark. */
  prepare<Row>(sql: string): RunStatement<Row>
  /**
   * Calls `work` in a write transaction: either everything that `work` writes is committed, or nothing.
   *
   * @throws The error of `work` or of the commit.
   */
  transact<T>(work: () => T): T
  /** Calls `work`, which only reads. All statements of `work` see the same state of the database. */
  read<T>(work: () => T): T
  /** Whether the connection has settings, such as a busy timeout. */
  readonly hasSettings: boolean
}

export const isSqliteDatabase = (value: unknown) =>
  isDurableObjectStorage(value) || hasMethods(value, 'exec', 'prepare')

const isDurableObjectStorage = (value: unknown): value is DurableObjectStorage =>
  hasMethods(value, 'transactionSync') && hasMethods((value as Partial<DurableObjectStorage>).sql, 'exec')

export const toDriver = (database: SqliteDatabase): Driver =>
  isDurableObjectStorage(database) ? createDurableObjectDriver(database) : createHandleDriver(database)

/**
 * A Durable Object does not share its storage, so it never waits for a lock. The runtime caches prepared statements,
 * commits transactions, and delays responses until all writes are durable.
 */
const createDurableObjectDriver = (storage: DurableObjectStorage): Driver => ({
  hasSettings: false,
  execute: sql => void storage.sql.exec(sql).toArray(),
  prepare:
    sql =>
    (...values) =>
      storage.sql.exec(sql, ...values).toArray() as never,
  transact: work => storage.transactionSync(work),
  // Needs no transaction, because nothing else can write while synchronous code runs.
  read: work => work(),
})

/** The settings of a statement. Their defaults come from the handle, where the application may have changed them. */
interface StatementSettings {
  /** In `better-sqlite3` and `bun:sqlite`. */
  safeIntegers?(isOn: boolean): unknown
  /** In `node:sqlite`. */
  setReadBigInts?(isOn: boolean): unknown
  setReturnArrays?(isOn: boolean): unknown
}

function createHandleDriver(database: SqliteHandle): Driver {
  requireSynchronous(database)

  return {
    hasSettings: true,
    execute: sql => void database.exec(sql),

    prepare(sql) {
      const statement = database.prepare(sql)
      if (statement.reader === false) {
        return (...values) => {
          statement.run(...values)
          return []
        }
      }
      setUp(statement)
      return (...values) => statement.all(...values) as never
    },

    transact: work => runIn('BEGIN IMMEDIATE', work),
    read: work => runIn('BEGIN', work),
  }

  function runIn<T>(begin: string, work: () => T): T {
    database.exec(begin)
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      rollBack()
      throw error
    }
  }

  function rollBack(): void {
    try {
      database.exec('ROLLBACK')
    } catch {
      // After some failures, SQLite has already rolled back (sqlite.org/lang_transaction.html, section 3).
    }
  }
}

/**
 * Rejects a handle that has the same methods but returns results by callback or promise. The check runs a query that
 * does not lock the file.
 */
function requireSynchronous(database: SqliteHandle): void {
  const statement = database.prepare('PRAGMA busy_timeout')
  if (typeof statement?.all !== 'function' || !Array.isArray(statement.all())) {
    throw new TypeError('The option "database" must be a synchronous database, without callbacks or promises')
  }
}

/** Makes a statement return integers as numbers and rows as objects, regardless of the handle's defaults. */
function setUp(statement: SqliteStatement & StatementSettings): void {
  statement.safeIntegers?.(false)
  statement.setReadBigInts?.(false)
  statement.setReturnArrays?.(false)
}
