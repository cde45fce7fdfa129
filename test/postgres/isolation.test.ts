import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import type { PostgresTransaction } from '../../src/postgres/application-transaction.ts'
import type { PostgresBridge } from '../../src/postgres/drivers.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { createPostgresStore } from '../../src/postgres/store.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { team1, team2, teams } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '50ms' })
  pool = server.createPool({ max: 12 })
})
afterAll(() => server.stop())

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

/**
 * An engine that has only snapshot isolation: its READ COMMITTED behaves like REPEATABLE READ, as in YugabyteDB by
 * default.
 */
function withSnapshots(version: string): PostgresBridge {
  const send = async (through: Pick<Pool, 'query'>, text: string, values: unknown[]) =>
    /^SELECT version\(\)/.test(text) ? { rows: [{ version }] } : through.query(text, values)
  return {
    query: (text, values) => send(pool, text, values),
    async transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
      const client = await pool.connect()
      try {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
        const result = await work({
          query: async (text, values) =>
            /^SET LOCAL transaction_isolation/.test(text) ? { rows: [] } : send(client, text, values),
        })
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
  }
}

/** @returns How often two simultaneous calls registered both a wildcard and a name below it. */
async function countOverlaps(database: PostgresBridge, schema: string, rounds: number): Promise<number> {
  await migrate({ database: pool, schema })
  const stores = Array.from({ length: 2 }, () => createPostgresStore({ database, schema, findTeam }))
  const [one, two] = stores as [(typeof stores)[0], (typeof stores)[0]]
  // Registers the bases of the wildcards, which creates the lock rows. A wildcard does not conflict with its base.
  await save(one, '1', manyDomains(rounds))
  let overlaps = 0
  for (const domain of manyDomains(rounds)) {
    const answers = await Promise.all([
      registerDomains(team1, { domains: [`*.${domain}`] }, one),
      registerDomains(team2, { domains: [`www.${domain}`] }, two),
    ])
    overlaps += Number(answers.every(({ data }) => data.totals.created === 1))
  }
  return overlaps
}

test('under snapshot isolation, simultaneous calls register no overlapping names', async () => {
  expect(await countOverlaps(withSnapshots('PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64'), 'snapshots', 50)).toBe(0)
})

test('under snapshot isolation, names would overlap if locking a row did not also write to it', async () => {
  expect(await countOverlaps(withSnapshots('PostgreSQL 18.0'), 'mistaken', 50)).toBeGreaterThan(0)
})

test('on PostgreSQL, a call locks an existing lock row without writing to it, and a release deletes it', async () => {
  await migrate({ database: pool, schema: 'unwritten' })
  const store = createPostgresStore({ database: pool, schema: 'unwritten', findTeam })
  await save(store, '1', manyDomains(20))
  const readLocks = async () =>
    (await pool.query('SELECT registrable_domain, ctid::text, xmin::text FROM unwritten.locks ORDER BY 1')).rows
  const before = await readLocks()
  expect(before).toHaveLength(20)
  await save(store, '1', manyDomains(20, 'www.'))
  expect(await readLocks()).toEqual(before)
  // The release deletes lock rows even if other names still need them: the next call inserts them again.
  const ids = (await store.list()).slice(10, 20).map(({ domainId }) => domainId)
  await store.release('1', [...manyDomains(10), ...ids])
  expect(await readLocks()).toEqual([])
})

test('a release and a transfer delete only the lock rows of their own registrable domains', async () => {
  await migrate({ database: pool, schema: 'separate' })
  const store = createPostgresStore({ database: pool, schema: 'separate', findTeam })
  const domains = ['a.co.uk', 'b.co.uk', 'c.co.uk']
  await save(
    store,
    '1',
    domains.map(domain => ({ domain, registrableDomain: domain })),
  )
  await store.release('1', ['a.co.uk'])
  await transfer(store, { from: '1', to: '2', domains: ['b.co.uk'] })
  const { rows } = await pool.query('SELECT registrable_domain FROM separate.locks')
  expect(rows).toEqual([{ registrable_domain: 'c.co.uk' }])
})

test('`find` reads a single consistent state, even if other calls commit between its statements', async () => {
  await migrate({ database: pool, schema: 'moving' })
  const store = createPostgresStore({ database: pool, schema: 'moving', findTeam })
  await save(store, '1', ['a.example.com'])
  async function replace() {
    await store.release('1', ['a.example.com'])
    await save(store, '1', ['example.com'])
  }
  const client = await pool.connect()
  const query = (text: string, values: unknown[]) => client.query(text, values)
  const database: PostgresBridge = {
    query,
    async transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
      await client.query('BEGIN')
      const result = await work({
        async query(text, values) {
          if (text.includes('AS below')) await replace()
          return query(text, values)
        },
      })
      await client.query('COMMIT')
      return result
    },
  }
  const slow = createPostgresStore({ database, schema: 'moving', findTeam })
  const found = await slow.find({ teamId: '2', domains: ['example.com'], bases: ['example.com'] })
  client.release()
  expect(found).toMatchObject({ registrations: [], below: [{ heldByOthers: true }] })
  expect(toDomains(await store.list())).toEqual(['example.com'])
})
