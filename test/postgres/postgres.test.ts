import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { describeSharedTables } from '../store/shared-tables.ts'
import { findTeam } from '../store/two-lists.ts'
import { openDatabase, type TestServer } from './server.ts'
import { describeKeyStore, describeStore } from './suites.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase({ TimeZone: 'Asia/Kolkata' })
  pool = server.createPool({ pipeline: true })
  await pool.query(`CREATE SCHEMA disguise;
    CREATE FUNCTION disguise.version() RETURNS text IMMUTABLE LANGUAGE sql AS
      $$ SELECT 'PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64' $$`)
})
afterAll(() => server.stop())

/**
 * Here PostgreSQL reports the name of another engine, so the store does not influence the plans. With these settings,
 * PostgreSQL reads the tables without indexes.
 */
const settings = { search_path: 'disguise,pg_catalog', enable_indexscan: 'off', enable_indexonlyscan: 'off' }
const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
const createDisguised = () => server.createPool({ options: options.join(' ') })

describeStore('PostgreSQL with pipelined statements', () => pool)
describeStore('a PostgreSQL that claims to be another engine, without pipelining', createDisguised)
describeKeyStore('PostgreSQL', () => pool)

let schemas = 0
describeSharedTables(async () => {
  const schema = `shared_${++schemas}`
  await migrate({ database: pool, schema })
  return options => createPostgresStore({ database: pool, schema, findTeam, ...options })
})
