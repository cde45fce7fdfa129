import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transfer } from '../../src/operations/transfer.ts'
import {
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { teams } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '50ms' })
  pool = server.createPool({ max: 12 })
})
afterAll(() => server.stop())

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

test('a server that only speaks the protocol is rejected, because overlapping names could be registered', async () => {
  const version = 'PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64'
  const query = async (text: string, values: unknown[]) =>
    text.includes('SELECT version()') ? { rows: [{ version, citus: 'false' }] } : pool.query(text, values)
  const database: PostgresBridge = { query, transaction: () => Promise.reject(new Error('Nothing is sent')) }
  const rejection = `The store needs PostgreSQL, but the server is "${version}"`
  await expect((async () => createPostgresStore({ database, findTeam }).list())()).rejects.toThrow(rejection)
  await expect(migrate({ database, schema: 'elsewhere' })).rejects.toThrow(rejection)
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
