import { onTestFinished } from 'vitest'
import { createMemoryStore, type ManagedStore } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import type { ManagedStoreOptions } from '../src/registry/managed-store.ts'
import { createSqliteStore } from '../src/sqlite/index.ts'
import { teams } from './fixtures.ts'
import { throughFirst } from './postgres/engine.ts'
import { openDatabase as openPostgres } from './postgres/server.ts'
import { openDatabase as openSqlite } from './sqlite/open-database.ts'

type Options = Omit<ManagedStoreOptions, 'findTeam'>

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

/** Opens an empty store of each kind that is bundled, by its name, for the length of one test. */
export const openers: Readonly<Record<string, (options?: Options) => Promise<ManagedStore>>> = {
  memory: async options => createMemoryStore({ teams, ...options }),
  async SQLite(options) {
    const database = openSqlite()
    onTestFinished(() => database.close())
    return createSqliteStore({ database, findTeam, ...options })
  },
  async PostgreSQL(options) {
    const server = await openPostgres()
    onTestFinished(() => server.stop())
    const pool = server.createPool()
    await migrate({ database: throughFirst(pool) })
    return createPostgresStore({ database: pool, findTeam, ...options })
  },
}
