import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { MonitorUnavailableError } from '../../src/outbox/contract.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import type { Change } from '../../src/rules/registration.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  type StoreBackend,
} from '../../src/store/managed-store.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import * as postgres from '../postgres/server.ts'
import { openDatabase } from '../sqlite/open-database.ts'

/** The data of a store. */
interface Data {
  /** Opens a store over the data, as a new process does. */
  connect(options: ManagedStoreOptions): ManagedStore
  /** Makes all changes due as much earlier as if this time, in milliseconds, had passed. */
  pass(milliseconds: number): Promise<unknown>
}

/** Data whose clock is that of this process. */
function withFakeClock(backend: StoreBackend): Data {
  vi.useFakeTimers()
  return { connect: options => createManagedStore(backend, options), pass: vi.advanceTimersByTimeAsync }
}

const servers: postgres.TestServer[] = []
afterAll(() => Promise.all(servers.map(server => server.stop())))

/** The clock is that of the database, so the due times are moved instead. */
async function inPostgres(): Promise<Data> {
  const server = await postgres.openDatabaseWithTables()
  servers.push(server)
  const database = server.createPool()
  return {
    connect: options => createPostgresStore({ ...options, database }),
    pass: milliseconds =>
      database.query(`UPDATE domain_registration.changes SET due = due - $1 * interval '1 ms'`, [milliseconds]),
  }
}

afterEach(() => void vi.useRealTimers())

/** Throws the answer of the monitor to a push with these changes, unless the monitor accepts them. */
type Monitor = (changes: readonly Change[]) => void
const denies =
  (isRefused: (change: Change) => boolean, toError = () => new Error('422')): Monitor =>
  changes => {
    if (changes.some(isRefused)) throw toError()
  }
const isEarly =
  (count: number) =>
  ({ domain }: Change) =>
    manyDomains(count).includes(domain)

describe.each<[string, () => Data | Promise<Data>]>([
  ['memory', () => withFakeClock(createMemoryBackend())],
  ['SQLite', () => withFakeClock(createSqliteBackend({ database: openDatabase() }))],
  ['PostgreSQL', inPostgres],
])('with a store in %s, and a new process for each sweep,', (_, openData) => {
  /** Makes the releases of some teams pending, and returns what a minute with one sweep of a new process does. */
  async function open(counts: Readonly<Record<string, number>>, monitor: Monitor) {
    const data = await openData()
    const accepted = new Set<string>()
    let isOpen = true
    const connect = () =>
      data.connect({
        findTeam: id => ({ id, organizationId: '10', state: 'active' }),
        batchSize: 100,
        onError() {},
        synchronize(changes) {
          if (isOpen) return
          monitor(changes)
          for (const { domain } of changes) accepted.add(domain)
        },
      })
    const store = connect()
    for (const [teamId, count] of Object.entries(counts)) {
      const domains = manyDomains(count, teamId === '1' ? undefined : `of-${teamId}-`)
      for (let start = 0; start < count; start += 100) {
        const some = domains.slice(start, start + 100)
        await store.synchronize?.(await save(store, teamId, some))
        await store.release(teamId, some)
      }
      await data.pass(1_000)
    }
    isOpen = false
    async function sweep(): Promise<void> {
      await connect().synchronizePending()
      await data.pass(60_000)
    }
    return { store, accepted, sweep }
  }

  test('twenty refused releases keep no later one from the monitor, and count as refused', async () => {
    const { store, accepted, sweep } = await open({ 1: 120 }, denies(isEarly(20)))
    for (let sweeps = 0; sweeps < 20; sweeps += 1) await sweep()
    expect(accepted.size).toBe(100)
    expect(await store.pendingStats()).toMatchObject({ count: 20, refused: 20 })
  })

  test('one of 51 changes that is answered with a Retry-After delays the others by one sweep', async () => {
    const told = () => new MonitorUnavailableError('503', { retryAfter: 30_000 })
    const { store, accepted, sweep } = await open({ 1: 51 }, denies(isEarly(1), told))
    await sweep()
    expect(accepted.size).toBe(50)
    expect(await store.pendingStats()).toMatchObject({ count: 1, refused: 1 })
  })

  test.each([
    ['422', () => new Error('422')],
    ['503 with Retry-After: 0', () => new MonitorUnavailableError('503', { retryAfter: 0 })],
  ])('a thousand changes of one team that get a %s delay those of another by two sweeps', async (_, toError) => {
    const { store, accepted, sweep } = await open(
      { 1: 1000, 2: 50 },
      denies(({ teamId }) => teamId === '1', toError),
    )
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await sweep()
    expect(accepted.size).toBe(50)
    expect((await store.pendingStats()).count).toBe(1000)
    expect(await store.listPending()).toContainEqual(expect.objectContaining({ lastFailure: expect.any(String) }))
  })

  test('changes of three teams that are all refused delay those of another by two sweeps', async () => {
    const { accepted, sweep } = await open(
      { 1: 300, 3: 300, 4: 300, 2: 50 },
      denies(({ teamId }) => teamId !== '2'),
    )
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await sweep()
    expect(accepted.size).toBe(50)
  })

  test('three changes that are answered 503 keep no refused change from the monitor once it accepts that', async () => {
    const away = new Set(manyDomains(3))
    let isMended = false
    const { store, accepted, sweep } = await open({ 1: 23 }, changes => {
      if (changes.some(({ domain }) => away.has(domain))) throw new MonitorUnavailableError('503')
      if (!isMended) throw new Error('422')
    })
    for (let sweeps = 0; sweeps < 12; sweeps += 1) await sweep()
    isMended = true
    await store.retryPending({})
    for (let sweeps = 0; sweeps < 40; sweeps += 1) await sweep()
    expect(accepted.size).toBe(20)
  })
})
