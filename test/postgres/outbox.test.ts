import type { Pool, PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { transfer } from '../../src/operations/transfer.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { save, toDomains } from '../../src/testing/calls.ts'
import { rejection, teams } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'
import { openDatabaseWithTables, type TestServer } from './server.ts'

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

let server: TestServer
let pool: Pool
/** The client of another transaction. */
let client: PoolClient
beforeAll(async () => {
  server = await openDatabaseWithTables()
  pool = server.createPool()
})
beforeEach(async () => {
  await pool.query('DELETE FROM domain_registration.names; DELETE FROM domain_registration.changes')
  client = await pool.connect()
})
afterEach(async () => {
  await client.query('ROLLBACK')
  client.release()
})
afterAll(() => server.stop())

const lock = (domain: string) =>
  client.query('SELECT FROM domain_registration.changes WHERE domain = $1 FOR SHARE', [domain])
const refused = new Error('refused')

test.each([
  ['succeeds', () => {}, ['a.com']],
  ['is refused', () => Promise.reject(refused), ['a.com', 'b.com', 'c.com']],
])(
  'a pending change does not block the sweep if another transaction locks it during a push that %s',
  async (_, answer, left) => {
    let isOpen = true
    const store = createPostgresStore({
      database: pool,
      findTeam,
      timeLimit: 5_000,
      onError: () => {},
      async synchronize() {
        if (isOpen) return
        await lock('a.com')
        await answer()
      },
    })
    const domains = ['a.com', 'b.com', 'c.com']
    await store.synchronize?.(await save(store, '1', domains))
    await store.release('1', domains)
    isOpen = false
    await client.query('BEGIN')
    // If the sweep waited for the lock, it would time out.
    const { synchronized, failed } = await store.synchronizePending()
    expect([synchronized, failed]).toEqual(left.length === 1 ? [3, 0] : [0, 3])
    expect(toDomains(await store.listPending())).toEqual(left)
    const failures = (await store.listPending()).map(({ lastFailure }) => lastFailure)
    expect(failures).toEqual(left.length === 1 ? [null] : [null, 'Error: refused', 'Error: refused'])
    await client.query('ROLLBACK')
  },
)

test('a pending change is not lost if it is locked while the registration that it follows is pushed', async () => {
  const pushed: string[] = []
  const store = createPostgresStore({
    database: pool,
    findTeam,
    synchronizeTimeLimit: 500,
    synchronize: changes => void pushed.push(...changes.map(({ kind, teamId }) => `${kind} ${teamId}`)),
  })
  await store.synchronize?.(await save(store, '1', ['a.com']))
  await transfer(store, { from: '1', to: '2', domains: ['a.com'] })
  await client.query('BEGIN')
  await client.query("SELECT FROM domain_registration.changes WHERE kind = 'released' FOR UPDATE")
  await store.synchronizePending()
  expect(pushed).toEqual(['registered 1', 'registered 2'])
  await client.query('ROLLBACK')
  await waitFor(async () => {
    await store.synchronizePending()
    expect(pushed).toEqual(['registered 1', 'registered 2', 'registered 2', 'released 1'])
  })
  expect(await store.countPending()).toBe(0)
})

test('a pending change is skipped by retryPending and by sweeps while another transaction has locked it', async () => {
  let isRefused = false
  const store = createPostgresStore({
    database: pool,
    findTeam,
    timeLimit: 5_000,
    onError: () => {},
    synchronize: () => (isRefused ? Promise.reject(refused) : undefined),
  })
  await store.synchronize?.(await save(store, '1', ['due.com']))
  await store.release('1', ['due.com'])
  isRefused = true
  const failed = await save(store, '1', ['free.com', 'refused.com'])
  await rejection(Promise.resolve(store.synchronize?.(failed)))
  await save(store, '1', ['leased.com'])
  isRefused = false
  const locked = ['due.com', 'leased.com', 'refused.com']
  // After this update, both changes are due in a day. A sweep treats such an implausibly late due time as past,
  // unless the change is locked.
  await pool.query(`UPDATE domain_registration.changes SET due = due + interval '1 day'
    WHERE domain IN ('leased.com', 'refused.com')`)
  await client.query('BEGIN')
  for (const domain of locked) await lock(domain)
  expect(await store.retryPending({ domainIds: failed.map(({ domainId }) => domainId) })).toBe(1)
  expect(await store.retryPending()).toBe(0)
  expect(await store.synchronizePending()).toEqual({ synchronized: 1, failed: 0 })
  expect(toDomains(await store.listPending()).sort()).toEqual(locked)
  await client.query('ROLLBACK')
  expect(await store.synchronizePending()).toEqual({ synchronized: 3, failed: 0 })
})
