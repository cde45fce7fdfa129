import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type CheckNames, deleteDomains, registerDomains } from '../../src/index.ts'
import { createPostgresStore, createPostgresWaitingStore } from '../../src/postgres/index.ts'
import { PATIENCE } from '../patience.ts'
import { waitFor } from '../wait-for.ts'
import { openDatabaseWithTables, type TestServer } from './server.ts'

const caller = { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:delete'] } as const
const findTeam = (id: string) => ({ id, organizationId: '10', state: 'active' as const })

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabaseWithTables()
  pool = server.createPool()
})
afterAll(() => server.stop())
beforeEach(() => pool.query('DELETE FROM domain_registration.names; DELETE FROM domain_registration.waiting'))

const createStore = () => createPostgresWaitingStore({ database: pool, timeLimit: PATIENCE })

const toCheck =
  (waits: boolean): CheckNames =>
  names =>
    names.map(({ domain }) => (domain === 'a.com' ? null : { code: 'invalid_domain', message: 'Not yet.', waits }))

test.each(['COMMIT', 'ROLLBACK'])('in a transaction of the application, names wait after its %s, or not', async end => {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const database = { query: (text: string, values: unknown[]) => client.query(text, values) }
    const [store, waiting] = [createPostgresStore({ database, findTeam }), createPostgresWaitingStore({ database })]
    await waiting.keep(
      '1',
      [{ domain: 'a.com', registrableDomain: 'a.com', refusal: { code: 'invalid_domain', reason: 'x', message: 'x' } }],
      { wait: 0, keepFor: 1000, most: 9 },
    )
    const options = { checkNames: toCheck(true), waiting }
    const { data } = await registerDomains(caller, { domains: ['a.com', 'b.com', 'c.com'] }, store, options)
    expect(data.results).toMatchObject([
      { status: 'created' },
      { message: expect.stringMatching(/^Not yet\. It is kept until /) },
      { message: expect.stringMatching(/^Not yet\. It is kept until /) },
    ])
    const deleted = await deleteDomains(caller, { domains: ['c.com'] }, store, { waiting })
    expect(deleted.data.results).toEqual([{ status: 'missing', input: 'c.com', waited: true }])
    // A statement that fails ends neither the transaction nor what is kept.
    await expect(waiting.remove('1', ['\0'])).rejects.toThrow()
    await client.query(end)
  } finally {
    client.release()
  }
  const outside = createStore()
  const names = (await outside.list('1')).map(({ domain }) => domain)
  expect(names).toEqual(end === 'COMMIT' ? ['b.com'] : [])
})

test('a name that a transaction of the application registers waits outside it until the COMMIT', async () => {
  const waiting = createStore()
  const refusal = { code: 'invalid_domain', reason: 'x', message: 'x' } as const
  const name = { domain: 'a.com', registrableDomain: 'a.com', refusal }
  await waiting.keep('1', [name], { wait: 0, keepFor: 1000, most: 9 })
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const database = { query: (text: string, values: unknown[]) => client.query(text, values) }
    const store = createPostgresStore({ database, findTeam })
    const options = { checkNames: toCheck(true), waiting }
    const { data } = await registerDomains(caller, { domains: ['a.com'] }, store, options)
    expect(data.results).toMatchObject([{ status: 'created' }])
    await client.query('ROLLBACK')
  } finally {
    client.release()
  }
  expect(await waiting.list('1')).toMatchObject([{ domain: 'a.com' }])
})

test('without the option, a refusal that waits costs no statement more than one that does not', async () => {
  async function count(waits: boolean, ...domains: string[]): Promise<number> {
    let statements = 0
    const query = async (text: string, values: readonly unknown[]) => {
      statements += 1
      return pool.query(text, values as unknown[])
    }
    const database = {
      query,
      async transaction<T>(work: (transaction: { query: typeof query }) => Promise<T>): Promise<T> {
        const client = await pool.connect()
        await client.query('BEGIN')
        const counted = async (text: string, values: readonly unknown[]) => {
          statements += 1
          return client.query(text, values as unknown[])
        }
        try {
          const result = await work({ query: counted })
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
    const store = createPostgresStore({ database, findTeam })
    await registerDomains(caller, { domains }, store, { checkNames: toCheck(waits) })
    return statements
  }
  expect(await count(true, 'b.com', 'c.com')).toBe(await count(false, 'd.com', 'e.com'))
})

test('senders, deleters and takers at once do not deadlock, and no name is lost', async () => {
  const domains = Array.from({ length: 40 }, (_, index) => `n${index}.example.com`)
  const stores = [1, 2, 3].map(createStore)
  const refusal = { code: 'invalid_domain', reason: 'x', message: 'x' } as const
  const names = domains.map(domain => ({ domain, registrableDomain: 'example.com', refusal }))
  const options = { wait: 0, keepFor: 1000, most: 40 }
  const rounds = Array.from({ length: 15 }, (_, round) => round)
  const hasten = { registrableDomains: ['example.com'], lease: 0 }
  await Promise.all(
    stores.flatMap(store => [
      (async () => {
        for (const round of rounds) await store.keep('1', round % 2 ? names : names.toReversed(), options)
      })(),
      (async () => {
        for (const round of rounds) await store.remove('1', domains.slice(round, round + 9).toReversed())
      })(),
      (async () => {
        for (const _ of rounds) {
          const taken = await store.take({ limit: 20, lease: 1000 })
          await store.settle(
            '1',
            taken.map(({ domain, tries, until }) => ({ domain, tries, until, wait: 0 })),
            hasten,
          )
        }
      })(),
    ]),
  )
  await stores[0]?.keep('1', names, options)
  expect(await stores[0]?.list('1')).toHaveLength(40)
  expect(server.readLog()).not.toMatch(/deadlock|idle-in-transaction/)
})

test.each([
  [50, [0, 0, 0, 50]],
  [120, [0, 20, 50, 50]],
])('simultaneous calls take %i due names of a team one after another, so their order is kept', async (count, taken) => {
  const store = createStore()
  const refusal = { code: 'invalid_domain', reason: 'x', message: 'x' } as const
  const domains = Array.from({ length: count }, (_, index) => `n${index}.example.com`)
  const names = domains.map(domain => ({ domain, registrableDomain: 'example.com', refusal }))
  for (let round = 1; round <= 20; round += 1) {
    await store.keep('1', names, { wait: 0, keepFor: 60_000, most: count })
    const calls = await Promise.all(Array.from({ length: 4 }, () => store.take({ limit: 50, lease: 60_000 })))
    expect(calls.map(({ length }) => length).sort((one, other) => one - other)).toEqual(taken)
  }
})

test('a call takes another team than one that has not ended, and waits only if there is no other', async () => {
  const store = createStore()
  const refusal = { code: 'invalid_domain', reason: 'x', message: 'x' } as const
  const client = await pool.connect()
  const query = (text: string, values: unknown[]) => client.query(text, values)
  const unended = createPostgresWaitingStore({ database: { query } })
  const options = { limit: 50, lease: 60_000 }
  const kept = { wait: 0, keepFor: 60_000, most: 1 }
  try {
    for (let round = 1; round <= 10; round += 1) {
      for (const team of ['1', '2'])
        await store.keep(team, [{ domain: 'a.com', registrableDomain: 'a.com', refusal }], kept)
      await client.query('BEGIN')
      const [first] = await unended.take(options)
      const [second] = await store.take(options)
      expect([first?.teamId, second?.teamId].sort()).toEqual(['1', '2'])
      const third = store.take(options)
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`
      await waitFor(async () => expect((await pool.query(waiting)).rowCount).toBe(1))
      await client.query('ROLLBACK')
      expect(await third).toMatchObject([{ teamId: first?.teamId, tries: 1 }])
    }
  } finally {
    client.release()
  }
})

test('a call whose only team is held by a hanging one fails within its limit; the next takes the names', async () => {
  const store = createPostgresWaitingStore({ database: pool, timeLimit: 300 })
  const refusal = { code: 'invalid_domain', reason: 'x', message: 'x' } as const
  await store.keep('1', [{ domain: 'a.com', registrableDomain: 'a.com', refusal }], {
    wait: 0,
    keepFor: 60_000,
    most: 1,
  })
  const client = await pool.connect()
  const query = (text: string, values: unknown[]) => client.query(text, values)
  try {
    await client.query('BEGIN')
    await createPostgresWaitingStore({ database: { query } }).take({ limit: 50, lease: 60_000 })
    await expect(store.take({ limit: 50, lease: 60_000 })).rejects.toThrow(/lock timeout|time limit/)
    await client.query('ROLLBACK')
    await waitFor(async () => expect(await store.take({ limit: 50, lease: 60_000 })).toMatchObject([{ tries: 1 }]))
  } finally {
    client.release()
  }
})
