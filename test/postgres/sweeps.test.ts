import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { Change } from '../../src/registry/store.ts'
import { createRequest, manyDomains, save, toName } from '../../src/testing/calls.ts'
import { holdStatements } from './held-pool.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
const sweepers: ChildProcess[] = []
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool })
})
beforeEach(async () => {
  for (const table of ['names', 'releases']) await pool.query(`DELETE FROM domain_registration.${table}`)
})
afterAll(async () => {
  for (const sweeper of sweepers) if (sweeper.exitCode === null) sweeper.kill()
  await server.stop()
})

const findTeam = () => null

/** What would be so once the leases have ended. */
async function endLeases(): Promise<void> {
  for (const table of ['names', 'releases']) {
    await pool.query(`UPDATE domain_registration.${table} SET due = now() WHERE due IS NOT NULL`)
  }
}

/** A store that says what it pushed. */
function open() {
  const pushed: string[] = []
  const synchronize = (changes: readonly Change[]) =>
    void pushed.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
  return { pushed, store: createPostgresStore({ pool, findTeam, synchronize }) }
}

const WAITING = 500
const MOST_PUSHED = 550

test('four processes that sweep share the work: of 500 that wait, at most 550 are pushed', async () => {
  const { store } = open()
  const released = manyDomains(WAITING / 2, 'released-')
  await store.synchronize?.(await save(store, '1', released))
  await store.release('1', released)
  await save(store, '1', manyDomains(WAITING / 2))
  await endLeases()
  expect(await store.countPending()).toBe(WAITING)

  const children = await Promise.all(Array.from({ length: 4 }, start))
  const reports = await Promise.all(
    children.map(async child => {
      const answer = once(child, 'message')
      child.send('go')
      return ((await answer) as [string[]])[0]
    }),
  )
  const pushed = reports.flat()
  expect(new Set(pushed).size).toBe(WAITING)
  expect(pushed.length).toBeLessThanOrEqual(MOST_PUSHED)
  expect(await store.countPending()).toBe(0)
  expect(server.readLog()).not.toContain('deadlock')
}, 60_000)

async function start(): Promise<ChildProcess> {
  const sweeper = fork(fileURLToPath(new URL('sweeper.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  sweepers.push(sweeper)
  sweeper.send(server.config)
  const [message] = await once(sweeper, 'message')
  expect(message).toBe('ready')
  return sweeper
}

test('a connection that is killed between any two statements of a release leaves nothing behind', async () => {
  const plain = server.createPool()
  let isReleased = false
  let [kept, told] = [0, 0]
  for (let moment = 0; !isReleased; moment += 1) {
    const { store, pushed } = open()
    await store.synchronize?.(await save(store, '1', ['www.example.com']))
    const killed = holdStatements(plain, async statement => {
      if (statement === moment) await killOthers()
    })
    const releasing = createPostgresStore({ pool: killed, findTeam, synchronize: () => {} })
    isReleased = await releasing.release('1', ['www.example.com']).then(
      () => killed.sent <= moment,
      () => false,
    )
    const held = (await store.list()).length
    expect(await store.countPending(), `killed before statement ${moment}`).toBe(1 - held)
    // Whoever sweeps next tells it, though the process that released it is gone.
    await store.synchronizePending()
    expect(pushed.slice(1)).toEqual(held === 1 ? [] : ['released www.example.com'])
    expect(await store.countPending()).toBe(0)
    if (held === 1) kept += 1
    else told += 1
    await store.release('1', ['www.example.com'])
    await store.synchronizePending()
  }
  expect(kept).toBeGreaterThan(3)
  expect(told).toBeGreaterThan(0)
}, 60_000)

/** Also those that lie idle. */
const killOthers = () =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE pid <> pg_backend_pid() AND datname = current_database() AND state = 'idle in transaction'`,
  )

test('what a sweeper had taken when its connection was killed is pushed by another once its lease ends', async () => {
  const { store, pushed } = open()
  await store.synchronize?.(await save(store, '1', ['www.example.com']))
  await store.release('1', ['www.example.com'])
  const dying = server.createPool({ max: 1 })
  const dead = createPostgresStore({ pool: dying, findTeam, synchronize: () => dying.end() })
  await expect(dead.synchronizePending()).rejects.toThrow()
  expect(await store.synchronizePending()).toEqual({ synchronized: 0, failed: 0 })
  await endLeases()
  expect(await store.synchronizePending()).toEqual({ synchronized: 1, failed: 0 })
  expect(pushed).toEqual(['registered www.example.com', 'released www.example.com'])
  expect(await store.countPending()).toBe(0)
})

test('a release waits one lease from its statement on, however long its transaction has been open', async () => {
  const { store } = open()
  const synchronize = () => {}
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const query = (text: string, values: unknown[]) => client.query(text, values)
    const begun = (await client.query('SELECT now()::text AS now')).rows[0].now
    await save(store, '1', ['example.com'])
    const inside = createPostgresStore({ pool: { query }, findTeam, synchronize })
    await inside.release('1', ['example.com'])
    await client.query('COMMIT')
    const { rows } = await pool.query(
      `SELECT due > $1::timestamptz + interval '90 s' AS later, due > now() + interval '80 s' AS leased
       FROM domain_registration.releases`,
      [begun],
    )
    expect(rows).toEqual([{ later: true, leased: true }])
  } finally {
    client.release()
  }
})

test('a registration that a call finds waiting is leased to it, and others are not', async () => {
  const { store, pushed } = open()
  await save(store, '1', ['a.com', 'www.a.com', 'b.com'])
  await endLeases()
  await store.register(createRequest('1', ['www.a.com', 'c.com'].map(toName), [], () => [toName('c.com')]))
  await store.synchronizePending()
  expect(pushed.toSorted()).toEqual(['registered a.com', 'registered b.com'])
})

test('a name that is reclassified while its push is under way is pushed once more, and then marked', async () => {
  const pushed: string[] = []
  const store = createPostgresStore({
    pool,
    findTeam,
    async synchronize(changes) {
      pushed.push(...changes.map(({ kind, registrableDomain }) => `${kind} in ${registrableDomain}`))
      if (pushed.length === 1) expect(await store.reclassify()).toMatchObject({ moved: 1 })
    },
  })
  // As if `github.io` had not been a public suffix yet when it was registered.
  const saved = await save(store, '1', [{ domain: 'a.foo.github.io', registrableDomain: 'github.io' }])
  await store.synchronize?.(saved)
  expect(await store.countPending()).toBe(1)
  await endLeases()
  await store.synchronizePending()
  expect(await store.list()).toMatchObject([{ ...saved[0], registrableDomain: 'foo.github.io', synchronized: true }])
  await store.release('1', ['a.foo.github.io'])
  await store.synchronizePending()
  expect(pushed).toEqual(['registered in github.io', 'registered in foo.github.io', 'released in foo.github.io'])
  expect(await store.countPending()).toBe(0)
})
