import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { KeyOwner } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { hasCode } from '../postgres/drivers/failures.ts'
import type { PostgresPool } from '../postgres/drivers/node-postgres.ts'
import { createPostgresKeyStore } from '../postgres/keys.ts'
import { absent, denied, migrate } from '../postgres/migrate.ts'
import { toTables } from '../postgres/schema.ts'
import { createPostgresStore } from '../postgres/store.ts'
import { createPostgresWaitingStore } from '../postgres/waiting.ts'
import { findBuiltinModule } from '../runtime/builtin-module.ts'
import { explainFailure } from '../sqlite/connection.ts'
import { type SqliteHandle, toDriver } from '../sqlite/driver.ts'
import { createSqliteKeyStore } from '../sqlite/keys.ts'
import { findVersion } from '../sqlite/schema.ts'
import { createSqliteStore } from '../sqlite/store.ts'
import { createSqliteWaitingStore } from '../sqlite/waiting.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import type { WaitingStore } from '../store/waiting.ts'

/** The location of the tables. */
export type Target =
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string | undefined }
  | { readonly kind: 'sqlite'; readonly file: string }

export interface OpenDatabase {
  /**
   * Creates a store without a monitor. A release by this store stays pending until the application's next sweep pushes
   * it.
   *
   * @param options `timeLimit`: milliseconds for each call; if absent, the store's default.
   */
  createStore(options?: { readonly timeLimit?: number }): ManagedStore
  createKeyStore(): ManagedKeyStore
  createWaitingStore(options?: { readonly timeLimit?: number }): WaitingStore
  /** Lists the IDs of the teams with names that wait. */
  listWaitingTeams(): Promise<readonly string[]>
  /** Lists the owners of keys: organizations, then teams, both sorted by ID. */
  listOwners(): Promise<readonly KeyOwner[]>
  /** Reads the version of the tables before a migration; 0 if they are missing or hidden from the role. */
  readVersion(): Promise<number>
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

export interface OpenOptions {
  /** Whether to create the file if it is missing. Default: `false`. */
  readonly mayCreate?: boolean
}

/** @throws {Error} if the driver, the file or its tables are missing; the message says which. */
export const openDatabase = (target: Target, options?: OpenOptions): OpenDatabase =>
  target.kind === 'postgres' ? openPostgres(target) : openSqlite(target.file, options)

/** SQL for {@link OpenDatabase.listOwners}. IDs are digits, so a longer ID is a larger number, and sorts later. */
const selectOwners = (table: string): string =>
  `SELECT type, owner_id AS "ownerId" FROM ${table}
   GROUP BY type, owner_id ORDER BY type, length(owner_id), owner_id`

interface Team {
  readonly id: string
}

const toId = ({ id }: Team) => id
const selectTeams = (table: string): string => `SELECT DISTINCT team_id AS id FROM ${table} ORDER BY id`

export const selectVersion = (table: string): string => `SELECT max(version) AS version FROM ${table}`

/** A store requires this function, but no command calls it, because only the application knows the teams. */
const findTeam = () => null

/**
 * Loads a package that the application has installed, searching from the current directory. Returns `undefined` if the
 * package is not installed.
 */
function loadDriver<Driver>(name: string): Driver | undefined {
  const load = createRequire(join(process.cwd(), 'package.json'))
  try {
    load.resolve(name)
  } catch {
    return undefined
  }
  return load(name) as Driver
}

/** The part of a `pg` pool that commands use. */
export type Pool = PostgresPool & {
  connect(): Promise<Pick<Pool, 'query'> & { release(destroy: true): void }>
  query<Row>(query: Query): Promise<{ rows: Row[]; rowCount: number | null }>
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect', listener: (client: Pick<Pool, 'on'>) => void): unknown
  end(): Promise<void>
}

interface Query {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly query_timeout: number
}

/**
 * Sends a query of the command line itself. Stores and `migrate` limit the time of their own queries.
 *
 * @param client A pool, or one connection.
 */
export const ask = <Row>(client: Pick<Pool, 'query'>, text: string, values: readonly unknown[] = []) =>
  client.query<Row>({ text, values, query_timeout: TIME_LIMIT })

interface Pg {
  Pool: new (options: object) => Pool
}

/** The time limit for opening a connection, and for each of the command line's own queries, in milliseconds. */
const TIME_LIMIT = 10_000

/** Creates a pool of one connection, which the first statement opens. */
export function createPool(url: string): Pool {
  const pg = loadDriver<Pg>('pg')
  if (!pg) throw new Error('PostgreSQL needs the package "pg" in this folder: npm install pg')
  const options = { connectionString: url, max: 1, connectionTimeoutMillis: TIME_LIMIT }
  const pool = new pg.Pool({ ...options, application_name: 'domain-registration' })
  // Without a listener, a lost connection would end the process. With a listener, only the statement that needs the
  // connection fails. The pool reports the loss of an idle connection; the client reports that its own connection was
  // lost.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

function openPostgres({ url, schema }: Extract<Target, { kind: 'postgres' }>): OpenDatabase {
  const database = createPool(url)
  const place = { database, schema }
  const tables = toTables({ schema })
  // A command sends few statements, and may run through a pooler that does not support prepared statements.
  const unprepared = { preparedStatements: false }
  return {
    createStore: options => createPostgresStore({ ...place, ...unprepared, findTeam, ...options }),
    createKeyStore: () => createPostgresKeyStore({ ...place, ...unprepared }),
    createWaitingStore: options => createPostgresWaitingStore({ ...place, ...unprepared, ...options }),
    listWaitingTeams: async () => (await ask<Team>(database, selectTeams(tables.waiting))).rows.map(toId),
    listOwners: async () => (await ask<KeyOwner>(database, selectOwners(tables.keys))).rows,
    async readVersion() {
      try {
        const { rows } = await ask<{ version: number | null }>(database, selectVersion(tables.version))
        return rows[0]?.version ?? 0
      } catch (error) {
        // If the role may not read the schema, the error of `migrate` says what lets the role migrate.
        if (hasNoTables(error) || hasCode(error, denied)) return 0
        throw error
      }
    },
    migrate: () => migrate(place),
    close: () => database.end(),
  }
}

/** Returns whether PostgreSQL says that a schema or a table does not exist. */
export const hasNoTables = (error: unknown): boolean => hasCode(error, absent)

export type Handle = SqliteHandle & { close(): unknown }

type Open = new (file: string) => Handle

/**
 * Opens a database file with `node:sqlite`, or, if Node lacks that, with a package that has the same interface. Creates
 * the file if it is missing.
 */
export function openHandle(file: string): Handle {
  const builtIn = findBuiltinModule('node:sqlite') as { DatabaseSync: Open } | undefined
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

/** Advice for a SQLite file that does not exist or has no tables, perhaps because its path is mistyped. */
export const toMigrateAdvice = (file: string): string =>
  `check the path. For a new database, run "domain-registration migrate --database ${file}"`

/**
 * Opens a database file. Unless it may be created, it must contain the tables: creating a store also creates its
 * tables, and if the path is mistyped, the tables must not be created in another program's database.
 */
function openSqlite(file: string, { mayCreate = false }: OpenOptions = {}): OpenDatabase {
  if (!mayCreate && !existsSync(file)) {
    throw new Error(`The file ${JSON.stringify(file)} does not exist: ${toMigrateAdvice(file)}`)
  }
  const database = openHandle(file)
  try {
    if (!mayCreate && !hasTables(database)) {
      throw new Error(`The file ${JSON.stringify(file)} does not contain the tables: ${toMigrateAdvice(file)}`)
    }
  } catch (error) {
    database.close()
    throw explainFailure(error)
  }
  return {
    createStore: options => createSqliteStore({ database, findTeam, ...options }),
    createKeyStore: () => createSqliteKeyStore({ database }),
    createWaitingStore: options => createSqliteWaitingStore({ database, ...options }),
    listWaitingTeams: async () =>
      (database.prepare(selectTeams('domain_registration_waiting')).all() as Team[]).map(toId),
    listOwners: async () => database.prepare(selectOwners('domain_registration_keys')).all() as KeyOwner[],
    readVersion: async () => findVersion(toDriver(database)),
    migrate: async () => void createSqliteStore({ database, findTeam }),
    close: async () => void database.close(),
  }
}
