import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { lookUp, save } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openDatabase()
})
afterAll(() => server.stop())

/** What is registered, what the holder of the lock does, and whether example.com is registered then. */
const changes = [
  [['www.example.com'], "SET inlined_path = NULL, domain_id = gen_random_uuid(), team_id = '2'", ['example.com']],
  [['example.com', 'www.example.com'], 'SET inlined_path = NULL, domain_id = NULL, team_id = NULL', []],
] as const
const cases = [undefined, 8].flatMap(partitions => changes.map(values => [partitions, ...values] as const))

test.each(cases)(
  'in %s partitions, a call that waited for the lock of %j sees what its holder %s',
  async (partitions, registered, change, found) => {
    const schema = `locks_${partitions ?? 'none'}_${registered.length}`
    const pool = server.createPool({ pipeline: true })
    await migrate({ pool, schema, partitions })
    const store = createPostgresStore({ pool, schema, findTeam: () => null })
    await save(store, '2', registered)

    const holder = await pool.connect()
    await holder.query(`BEGIN; SELECT FROM ${schema}.names WHERE path = '' FOR UPDATE`)
    const waiting = lookUp(store, '1', ['example.com'])
    await expect.poll(countWaiting, { timeout: 10_000 }).toBe(1)
    await holder.query(`UPDATE ${schema}.names ${change} WHERE path = ''; COMMIT`)
    holder.release()
    expect((await waiting).registrations.map(({ domain }) => domain)).toEqual(found)
  },
)

async function countWaiting(): Promise<number> {
  const { rows } = await server.createPool().query(
    `SELECT count(*)::integer AS count FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  )
  return rows[0].count
}
