import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
let store: PostgresStore
/** What the connection has sent: one list of statements for each time that it wrote before it heard from the server. */
let trips: string[][]

beforeAll(async () => {
  server = await startServer()
  const pool = server.createPool({ max: 1, pipeline: true })
  await migrate({ pool })
  pool.on('acquire', watch)
  store = createPostgresStore({ pool, findTeam: () => null })
})
afterAll(() => server.stop())

const watched = new Set<PoolClient>()
/** Called whenever the pool lends the connection, which is always the same. */
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
        config.name?.replace(/^domain_registration_|_\w{1,8}$/g, '') ?? config.text.slice(0, config.text.search(/ |$/)),
      )
    return query(config)
  }) as never
}

async function tripsOf(domains: readonly string[]): Promise<string[][]> {
  trips = []
  await save(store, '1', domains)
  return trips
}

const lookUps = ['BEGIN', 'lock_zones', 'find_names']

test('a call takes two round trips, and where the one before found nothing, the first saves what is new', async () => {
  expect(await tripsOf(['a.com', 'www.a.com'])).toEqual([[...lookUps, 'insert_names'], ['COMMIT']])
  // A guess that was wrong, and after it none; then none that would have been right.
  expect(await tripsOf(['b.a.com'])).toEqual([
    [...lookUps, 'insert_names'],
    ['insert_names', 'mark_crowds', 'COMMIT'],
  ])
  expect(await tripsOf(['c.a.com'])).toEqual([lookUps, ['insert_names', 'mark_crowds', 'COMMIT']])
  expect(await tripsOf(['www.b.com'])).toEqual([lookUps, ['insert_names', 'COMMIT']])
  expect(await tripsOf(['www.c.com'])).toEqual([[...lookUps, 'insert_names'], ['COMMIT']])

  const { rows } = await server
    .createPool()
    .query('SELECT domain FROM domain_registration.registrations ORDER BY domain COLLATE "C"')
  expect(rows.map(({ domain }) => domain)).toEqual([
    'a.com',
    'b.a.com',
    'c.a.com',
    'www.a.com',
    'www.b.com',
    'www.c.com',
  ])
})
