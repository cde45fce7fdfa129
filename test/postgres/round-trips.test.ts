import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import { createRequest, lookUp, manyDomains, save, toTestName } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let store: PostgresStore
/** The statements that the connection has sent, grouped by round trip. */
let trips: string[][]

beforeAll(async () => {
  server = await openDatabase()
  store = await createWatchedStore(true)
})
afterAll(() => server.stop())

async function createWatchedStore(pipeline: boolean): Promise<PostgresStore> {
  const pool = server.createPool({ max: 1, pipeline })
  await migrate({ database: pool })
  pool.on('acquire', watch)
  return createPostgresStore({ database: pool, findTeam: () => null })
}

const watched = new Set<PoolClient>()
/** Called whenever the pool lends its only connection. */
function watch(client: PoolClient): void {
  if (watched.has(client)) return
  watched.add(client)
  let hasHeard = true
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.prependListener('data', () => {
    hasHeard = true
  })
  const query = client.query.bind(client) as (query: { name?: string; text: string }) => unknown
  client.query = ((config: { name?: string; text: string }) => {
    if (hasHeard) trips.push([])
    hasHeard = false
    trips
      .at(-1)
      ?.push(
        config.name?.replace(/^domain_registration_|_\w{1,8}$/g, '') || config.text.slice(0, config.text.search(/ |$/)),
      )
    return query(config)
  }) as never
}

async function tripsOf(domains: readonly string[], through = store): Promise<string[][]> {
  trips = []
  await save(through, '1', domains)
  return trips
}

/** The statements of the first round trip. */
const first = ['BEGIN;', 'lock', 'find_by_domain']
const second = ['insert_names', 'COMMIT']

test('a call needs two round trips to the database, even if it finds registrations', async () => {
  // The first call of a store also queries the version of the engine.
  await tripsOf(['warm-up.com'])
  expect(await tripsOf(['a.com', 'www.a.com'])).toEqual([first, second])
  expect(await tripsOf(['b.a.com'])).toEqual([first, second])
  expect(await tripsOf(['*.d.com'])).toEqual([[...first, 'SELECT'], second])
  expect(await tripsOf(manyDomains(100))).toEqual([first, second])
})

test('statements leave in one packet only while another connection of the pool is in use', async () => {
  const pool = server.createPool({ max: 2, pipeline: true })
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  let packets = 0
  pool.on('connect', (client: PoolClient) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    for (const method of ['_write', '_writev'] as const) {
      const send = stream[method] as (...parameters: unknown[]) => void
      stream[method] = (...parameters: unknown[]) => {
        packets += 1
        send.apply(stream, parameters)
      }
    }
  })
  async function count(domain: string): Promise<number> {
    packets = 0
    await save(store, '1', [domain])
    return packets
  }
  for (const client of [await pool.connect(), await pool.connect()]) client.release()
  await count('first.packets.com')
  const alone = await count('alone.packets.com')
  const other = await pool.connect()
  const beside = await count('beside.packets.com')
  other.release()
  expect(beside).toBe(2)
  expect(alone).toBeGreaterThan(beside)
})

test('a call for a team with a limit needs only two round trips, and locks the team before it counts', async () => {
  const name = toTestName('limited.com')
  const request = createRequest('1', [name], [], () => [name])
  trips = []
  await store.register({ ...request, needsCount: true })
  expect(trips).toEqual([[...first, 'SELECT'], second])
  const pool = server.createPool()
  const { rows } = await pool.query(`SELECT registrable_domain FROM domain_registration.locks ORDER BY 1`)
  expect(rows[0]).toEqual({ registrable_domain: '#1' })
})

test('a call that changes nothing ends with ROLLBACK, so it does not wait for the disk', async () => {
  await save(store, '1', ['held.com'])
  trips = []
  await lookUp(store, '1', ['held.com', 'free.com'])
  expect(trips.at(-1)).toEqual(['ROLLBACK'])
})

test("a release sends the same statements for another team's name as for an unregistered one", async () => {
  await save(store, '2', ['theirs.com', '*.theirs.org'])
  await save(store, '1', ['own.com', 'own.org'])
  const release = async (...domains: string[]) => {
    trips = []
    await store.release('1', domains)
    return trips
  }
  const free = await release('free.com', '*.free.org')
  expect(free.flat()).toContain('find_by_domain')
  expect(await release('theirs.com', '*.theirs.org')).toEqual(free)
  expect(await release('own.com', 'theirs.com')).toEqual(await release('own.org', 'free.com'))
})

test('without pipelining, each statement waits for the response to the previous one', async () => {
  const unpipelined = await createWatchedStore(false)
  await tripsOf(['unpipelined-warm-up.com'], unpipelined)
  expect(await tripsOf(['unpipelined.com'], unpipelined)).toEqual([...first, ...second].map(each => [each]))
})

test('a release reads in one transaction and locks in the next: Citus may move a shard in between', async () => {
  await tripsOf(['moved.com'])
  trips = []
  expect(await store.release('1', ['moved.com'])).toHaveLength(1)
  const [, looking, ...releasing] = trips.flat().join(' ').split('BEGIN; ')
  expect(looking).toBe('find_by_domain ROLLBACK ')
  expect(releasing).toEqual(['lock find_by_domain DELETE replace SELECT DELETE COMMIT'])
})
