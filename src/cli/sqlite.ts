import { existsSync } from 'node:fs'
import type { KeyOwner } from '../keys/key-record.ts'
import type { SqliteHandle } from '../sqlite/driver.ts'
import { explainFailure } from '../sqlite/failures.ts'
import { createSqliteKeyStore } from '../sqlite/key-store.ts'
import { createSqliteStore } from '../sqlite/store.ts'
import { findTeam, loadDriver, type OpenDatabase, selectOwners } from './connection.ts'

export type Handle = SqliteHandle & { close(): unknown }

type Open = new (file: string) => Handle

/**
 * Opens a database file with `node:sqlite`, or, if Node lacks that, with a package that has the same interface. Creates
 * the file if it is missing.
 */
export function openHandle(file: string): Handle {
  const builtIn = (process.getBuiltinModule as (name: string) => unknown)('node:sqlite') as
    | { DatabaseSync: Open }
    | undefined
  const Database = builtIn?.DatabaseSync ?? loadDriver<Open>('better-sqlite3') ?? loadDriver<Open>('libsql')
  if (!Database) {
    throw new Error(
      'SQLite needs the package "better-sqlite3" or "libsql" in this folder: npm install better-sqlite3@12 ' +
        '(or use Node 22.13 or later, which includes SQLite)',
    )
  }
  try {
    return new Database(file)
  } catch (error) {
    throw explainFailure(error)
  }
}

export const hasTables = (handle: Handle): boolean =>
  handle.prepare("SELECT 1 FROM sqlite_master WHERE name = 'domain_registration_version'").all().length > 0

/**
 * Opens a database file that contains the tables.
 *
 * @throws {Error} if the file or its tables do not exist.
 */
export function openExisting(file: string): Handle {
  if (!existsSync(file)) throw new Error(`The file ${JSON.stringify(file)} does not exist: run migrate first`)
  const database = openHandle(file)
  try {
    if (!hasTables(database)) throw new Error('The tables are missing: run migrate first')
    return database
  } catch (error) {
    database.close()
    throw explainFailure(error)
  }
}

export function openSqlite(file: string, { mayCreate = false }: { readonly mayCreate?: boolean } = {}): OpenDatabase {
  // Creating a store also creates its tables. If the path is mistyped, the tables must not be created in another
  // program's database.
  const database = mayCreate ? openHandle(file) : openExisting(file)
  return {
    createStore: options => createSqliteStore({ database, findTeam, ...options }),
    createKeyStore: () => createSqliteKeyStore({ database }),
    listOwners: async () => database.prepare(selectOwners('domain_registration_keys')).all() as KeyOwner[],
    migrate: async () => void createSqliteStore({ database, findTeam }),
    close: async () => void database.close(),
  }
}
