import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createPostgresStore, createPostgresWaitingStore, migrate } from '../../src/postgres/index.ts'
import { waitingStoreSuite } from '../../src/testing/index.ts'
import { counts } from '../counts.ts'
import { describeSharedTables } from '../sql/shared-tables.ts'
import { describeTwoLists, findTeam } from '../sql/two-lists.ts'
import { isGiven, throughFirst } from './engine.ts'
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

// On the servers that tests start, test/testing/waiting-store-suite.test.ts runs these cases.
describe.runIf(isGiven)('the store of names that wait', () => {
  test('migrate finds nothing missing through any node, although only one has its table', async () => {
    await migrate({ database: throughFirst(pool), schema: 'waiting' })
    for (let node = 0; node < 3; node += 1) await migrate({ database: server.createPool(), schema: 'waiting' })
  })

  async function createStore() {
    const database = throughFirst(pool)
    await migrate({ database, schema: 'waiting' })
    await database.query('DELETE FROM waiting.waiting')
    return createPostgresWaitingStore({ database, schema: 'waiting' })
  }
  for (const { name, run } of waitingStoreSuite({ createStore })) test(name, run)
})
