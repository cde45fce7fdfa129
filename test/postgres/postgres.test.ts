import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts } from '../counts.ts'
import { describeSharedTables } from '../store/shared-tables.ts'
import { describeTwoLists, findTeam } from '../store/two-lists.ts'
import { throughFirst } from './engine.ts'
import { openDatabase, type TestServer } from './server.ts'
import { describeKeyStore, describeStore } from './suites.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase({ TimeZone: 'Asia/Kolkata' })
  pool = server.createPool({ pipeline: true })
})
afterAll(() => server.stop())

/** With these settings, PostgreSQL prefers to read the tables without indexes, so rows come in another order. */
const createWithoutIndexes = () =>
  server.createPool({ options: '-c enable_indexscan=off -c enable_indexonlyscan=off -c enable_bitmapscan=off' })

describeStore('PostgreSQL with pipelined statements', () => pool)
describeStore('PostgreSQL without indexes or pipelining', createWithoutIndexes, {}, counts.casesOfDrivers)
describeKeyStore('PostgreSQL', () => pool)

let schemas = 0
/** Creates empty tables. */
async function createTables() {
  const schema = `schema_${++schemas}`
  await migrate({ database: throughFirst(pool), schema })
  return { database: pool, schema, findTeam }
}

describeSharedTables(async () => {
  const tables = await createTables()
  return options => createPostgresStore({ ...tables, ...options })
})

describeTwoLists(async () => {
  const tables = await createTables()
  return ({ createPostgresStore }) => createPostgresStore(tables)
})
