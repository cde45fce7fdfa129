import { createRequire } from 'node:module'
import { Database } from 'node-sqlite3-wasm'
import type { SqliteHandle } from '../../src/sqlite/handle-driver.ts'

export interface TestDatabase extends SqliteHandle {
  close(): unknown
}

/**
 * Opens a database in the shape of `node:sqlite`, which Node 20 has not: over SQLite in WebAssembly. With the folder of a
 * built `better-sqlite3` in the environment variable `BETTER_SQLITE3`, that is what all tests run on instead. What hosts
 * use is tested in `test/runtimes`.
 */
export function openDatabase(file = ':memory:', { readOnly = false } = {}): TestDatabase {
  const { BETTER_SQLITE3 } = process.env
  if (BETTER_SQLITE3) {
    const BetterSqlite = createRequire(import.meta.url)(BETTER_SQLITE3)
    return new BetterSqlite(file, { readonly: readOnly })
  }
  const database = new Database(file, { readOnly })
  return {
    exec: sql => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        all: (...values) => statement.all(values),
        run: (...values) => statement.run(values),
      }
    },
    close: () => database.close(),
  }
}
