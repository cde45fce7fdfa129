import type { Driver, SqliteValue } from './driver.ts'

/** What the stores need of a `DatabaseSync` of `node:sqlite`, or a `Database` of `better-sqlite3` or `bun:sqlite`. */
export interface SqliteHandle {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** A prepared statement of a {@link SqliteHandle}. */
export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[]
  run(...values: SqliteValue[]): unknown
  /** Whether the statement has rows to give. Where it has none, `better-sqlite3` wants `run`. */
  readonly reader?: boolean | undefined
}

/** How a host can have set up its handle, statement by statement. */
interface StatementSettings {
  /** Of `better-sqlite3` and `bun:sqlite`. */
  safeIntegers?(isOn: boolean): unknown
  /** Of `node:sqlite`. */
  setReadBigInts?(isOn: boolean): unknown
  setReturnArrays?(isOn: boolean): unknown
}

export function createHandleDriver(database: SqliteHandle): Driver {
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

    transact(work) {
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        database.exec('COMMIT')
        return result
      } catch (error) {
        rollBack(database)
        throw error
      }
    },
  }
}

/**
 * Packages that answer in callbacks or promises have methods of the same names. Asks what needs no lock of the file.
 */
function requireSynchronous(database: SqliteHandle): void {
  const statement = database.prepare('PRAGMA busy_timeout')
  if (typeof statement?.all !== 'function' || !Array.isArray(statement.all())) {
    throw new TypeError('The option "database" must be a database that answers at once, not in callbacks or promises')
  }
}

/** Whole numbers come as numbers, and rows as objects, whatever the handle's default. */
function setUp(statement: SqliteStatement & StatementSettings): void {
  statement.safeIntegers?.(false)
  statement.setReadBigInts?.(false)
  statement.setReturnArrays?.(false)
}

/**
 * After some failures SQLite has rolled back by itself (sqlite.org/lang_transaction.html, section 3), and refuses to
 * again.
 */
function rollBack(database: SqliteHandle): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}
