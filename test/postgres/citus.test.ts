import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

// PostgreSQL takes and ignores what is set for Citus. Citus itself is run by hand: `npm run test:engine`.
let server: TestServer
let pool: Pool
const sent: string[] = []
beforeAll(async () => {
  server = await openDatabase({ 'citus.version': 'none' })
  pool = server.createPool({ max: 1, pipeline: true })
  await migrate({ database: pool })
  pool.once('acquire', client => {
    const query = client.query.bind(client) as (config: { text: string }) => unknown
    client.query = ((config: { text: string }) => {
      sent.push(config.text)
      return query(config)
    }) as never
  })
})
beforeEach(() => {
  sent.length = 0
})
afterAll(() => server.stop())

test('on Citus a call claims in one statement, however many domains it has, and each SET is by itself', async () => {
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  const saved = await save(store, '1', ['a.com', 'www.b.com', 'c.com', 'd.com', 'e.com'])
  expect(saved).toHaveLength(5)
  const inserts = sent.filter(text => text.startsWith('INSERT'))
  expect(inserts).toEqual([expect.stringMatching(/ VALUES \(\$3::text,.+ \$17::uuid,/)])
  const settings = sent.filter(text => text.startsWith('SET LOCAL '))
  expect(settings.filter(text => text.startsWith('SET LOCAL citus.'))).toHaveLength(4)
  expect(settings.filter(text => text.includes(';'))).toEqual([])
  expect(settings.filter(text => text.includes('plan_cache_mode'))).toEqual([])
})

test('on Citus a release of more registrable domains than one statement has parameters for is refused', async () => {
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  const domains = Array.from({ length: 21_845 }, (_, index) => `name-${index}.com`)
  await save(store, '1', ['name-0.com'])
  sent.length = 0
  await expect(store.release('1', domains)).rejects.toThrow(
    new RangeError('On Citus a call claims at most 21844 registrable domains, and not 21845'),
  )
  expect(sent.filter(text => text.startsWith('INSERT'))).toEqual([])
  expect(await store.release('1', domains.slice(1))).toEqual([])
  expect(await store.release('1', domains.slice(0, 2))).toHaveLength(1)
})
