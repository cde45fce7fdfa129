import type { Driver, SqliteValue, Transaction } from './driver.ts'

/** A `DatabaseSync` of `node:sqlite`, or a `Database` of `better-sqlite3` or `bun:sqlite`. */
export interface SqliteHandle {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** A prepared statement of a {@link SqliteHandle}. */
export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[]
  run(...values: SqliteValue[]): unknown
  /** Whether the statement returns rows. For one that does not, `better-sqlite3` requires `run`. */
  readonly reader?: boolean | undefined
}

/** Settings of a statement that a host may have changed for its whole handle. */
interface StatementSettings {
  /** In `better-sqlite3` and `bun:sqlite`. */
  safeIntegers?(isOn: boolean): unknown
  /** In `node:sqlite`. */
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

    begin,

    transact(work) {
      const { commit, rollBack } = begin()
      try {
        const result = work()
        commit()
        return result
      } catch (error) {
        rollBack()
        throw error
      }
    },
  }

  function begin(): Transaction {
    database.exec('BEGIN IMMEDIATE')
    return {
      commit: () => void database.exec('COMMIT'),
      rollBack() {
        try {
          database.exec('ROLLBACK')
        } catch {
          // After some failures SQLite has done so by itself (sqlite.org/lang_transaction.html, section 3).
        }
      },
    }
  }
}

/**
 * Refuses handles with the same methods that answer by callback or promise. The query needs no lock of the file.
 */
function requireSynchronous(database: SqliteHandle): void {
  const statement = database.prepare('PRAGMA busy_timeout')
  if (typeof statement?.all !== 'function' || !Array.isArray(statement.all())) {
    throw new TypeError('The option "database" must be a database that answers at once, not in callbacks or promises')
  }
}

/** Makes a statement return integers as numbers, and rows as objects, whatever the handle's default. */
function setUp(statement: SqliteStatement & StatementSettings): void {
  statement.safeIntegers?.(false)
  statement.setReadBigInts?.(false)
  statement.setReturnArrays?.(false)
}
