import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { testAgainstMemory } from '../store/model.ts'
import { throughFirst } from './engine.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ database: throughFirst(pool) })
})
afterAll(() => server.stop())

testAgainstMemory('PostgreSQL', () => ({
  async create(options) {
    for (const table of ['names', 'changes']) await pool.query(`DELETE FROM domain_registration.${table}`)
    return createPostgresStore({ ...options, database: pool })
  },
  // Citus rejects statements whose result depends on the time zone, so this one subtracts the interval in UTC.
  hasten: milliseconds =>
    pool.query(
      `UPDATE domain_registration.changes
       SET due = (due AT TIME ZONE 'UTC' - $1::double precision * interval '1 ms') AT TIME ZONE 'UTC'`,
      [milliseconds],
    ),
}))
