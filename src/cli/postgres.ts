import type { KeyOwner } from '../keys/key-record.ts'
import { createPostgresKeyStore } from '../postgres/key-store.ts'
import { migrate } from '../postgres/migrate.ts'
import type { PostgresPool } from '../postgres/pg-pool.ts'
import { toTables } from '../postgres/schema.ts'
import { createPostgresStore } from '../postgres/store.ts'
import type { Target } from './command.ts'
import { findTeam, loadDriver, type OpenDatabase, selectOwners } from './connection.ts'

/** The part of a `pg` pool that commands use. */
export type Pool = PostgresPool & {
  connect(): Promise<Pick<Pool, 'query'> & { release(): void }>
  query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect', listener: (client: Pick<Pool, 'on'>) => void): unknown
  end(): Promise<void>
}

interface Pg {
  Pool: new (options: object) => Pool
}

/** The time limit for opening a connection, in milliseconds. */
const PATIENCE = 10_000

/** Creates a pool of one connection, which the first statement opens. */
export function createPool(url: string): Pool {
  const pg = loadDriver<Pg>('pg')
  if (!pg) throw new Error('PostgreSQL needs the package "pg" in this folder: npm install pg')
  const options = { connectionString: url, max: 1, connectionTimeoutMillis: PATIENCE }
  const pool = new pg.Pool({ ...options, application_name: 'domain-registration' })
  // Without a listener, a lost connection would end the process. With a listener, only the statement that needs the
  // connection fails. The pool reports the loss of an idle connection; the client reports that its own connection was
  // lost.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

export function openPostgres({ url, schema }: Extract<Target, { kind: 'postgres' }>): OpenDatabase {
  const database = createPool(url)
  const place = { database, schema }
  return {
    createStore: options => createPostgresStore({ ...place, findTeam, ...options }),
    createKeyStore: () => createPostgresKeyStore(place),
    listOwners: async () => (await database.query<KeyOwner>(selectOwners(toTables(place).keys))).rows,
    migrate: () => migrate(place),
    close: () => database.end(),
  }
}
