import { createRequire } from 'node:module'
import sqlite3 from 'node-sqlite3-wasm'
import type { SqliteHandle, SqliteValue } from '../../src/sqlite/driver.ts'

export interface TestDatabase extends SqliteHandle {
  close(): unknown
}

type Open = (file: string, readOnly: boolean) => TestDatabase

/** The folder of a built `better-sqlite3`, which all tests use if this variable is set. */
const { BETTER_SQLITE3 } = process.env

const openers = {
  'better-sqlite3': (file, readonly) => {
    const BetterSqlite = createRequire(import.meta.url)(BETTER_SQLITE3 as string)
    return new BetterSqlite(file, { readonly })
  },
  'node:sqlite': (file, readOnly) => {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (file: string, options: object) => TestDatabase
    }
    return new DatabaseSync(file, { readOnly })
  },
  'node-sqlite3-wasm': openInWebAssembly,
} satisfies Record<string, Open>

/** Node 20 has no built-in SQLite, so there the tests use a build for WebAssembly. */
export const engine: keyof typeof openers = BETTER_SQLITE3
  ? 'better-sqlite3'
  : process.getBuiltinModule('node:sqlite')
    ? 'node:sqlite'
    : 'node-sqlite3-wasm'

export const openDatabase = (file = ':memory:', { readOnly = false } = {}) => openers[engine](file, readOnly)

function openInWebAssembly(file: string, readOnly: boolean): TestDatabase {
  const database = new sqlite3.Database(file, { readOnly })
  // This build frees the memory of statements only when the database is closed.
  const statements = new Map<string, sqlite3.Statement>()
  function prepareOnce(sql: string): sqlite3.Statement {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return {
    exec: sql => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      prepareOnce(sql)
      function all(...values: unknown[]) {
        try {
          return prepareOnce(sql).all(values as SqliteValue[])
        } catch (error) {
          // A failure ends a statement, so it is prepared again.
          statements.delete(sql)
          throw error
        }
      }
      return { all, run: all }
    },
  }
}
