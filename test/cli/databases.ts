import { join } from 'node:path'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import type { ManagedStore } from '../../src/store/managed-store.ts'
import { openDatabaseWithTables, openDatabase as openServer, type TestServer } from '../postgres/server.ts'
import { openDatabase as openFile } from '../sqlite/open-database.ts'
import { createSqliteProject, type Outcome, type RunOptions, run, sqliteEngine, toUrl } from './program.ts'

/** An application's database, with or without tables. */
export interface TestDatabase {
  /** Runs a command on the database. */
  run(parameters: readonly string[], options?: RunOptions): Promise<Outcome>
  readonly address: string
  readonly folder: string
  /** Calls `work` with a store on the same database, as the application would create it. */
  withStore(work: (store: ManagedStore) => Promise<void>): Promise<void>
  /** Runs SQL on the database. */
  execute(sql: string): Promise<void>
  close(): Promise<void>
}

const team = { id: '1', organizationId: '10', state: 'active' as const }
const options = {
  findTeam: (id: string) => (id === '1' || id === '2' ? { ...team, id } : null),
  synchronize: () => Promise.reject(new Error('The monitor is offline')),
  // With this limit, a failed change is retried only after minutes.
  synchronizeTimeLimit: 3_600_000,
  onError: () => {},
}

export const createPostgres = async () => toTestDatabase(await openServer())
export const createPostgresWithTables = async () => toTestDatabase(await openDatabaseWithTables())

function toTestDatabase(server: TestServer): TestDatabase {
  const pool = server.createPool()
  const address = toUrl(server.config)
  return {
    address,
    folder: process.cwd(),
    run: (parameters, { env, ...rest } = {}) => run(parameters, { env: { DATABASE_URL: address, ...env }, ...rest }),
    async withStore(work) {
      await migrate({ database: pool })
      await work(createPostgresStore({ database: pool, ...options }))
    },
    execute: async sql => void (await pool.query(sql)),
    close: () => server.stop(),
  }
}

export async function createSqlite(): Promise<TestDatabase> {
  const project = createSqliteProject()
  const file = join(project.folder, 'registrations.db')
  return {
    address: file,
    folder: project.folder,
    run: (parameters, { env, ...rest } = {}) =>
      run(parameters, { cwd: project.folder, env: { DATABASE_URL: 'registrations.db', ...env }, ...rest }),
    async withStore(work) {
      const database = openFile(file)
      await work(createSqliteStore({ database, ...options }))
      database.close()
    },
    async execute(sql) {
      const database = openFile(file)
      database.exec(sql)
      database.close()
    },
    close: async () => project.remove(),
  }
}

export const sqliteName = `SQLite (${sqliteEngine})`
export const databases = [
  ['PostgreSQL', createPostgres],
  [sqliteName, createSqlite],
] as const

/** AuthenticationOk and ReadyForQuery (PostgreSQL's manual, section "Message Formats"). */
export const AUTHENTICATED = Buffer.from('5200000008000000005a0000000549', 'hex')
