import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { importDomains } from '../../src/operations/import-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import {
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresStoreOptions,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import { retryConflicts } from '../../src/postgres/transaction.ts'
import { createUuidGenerator } from '../../src/runtime/uuid.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { rejection, team1, team2, teams } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

/** Runs work that fails with this error in its first `times` attempts, by default in all of them. */
async function countAttempts(failure: object, times = Number.POSITIVE_INFINITY): Promise<number> {
  let attempts = 0
  const running = retryConflicts(createDeadline(10_000), async () => {
    attempts += 1
    if (attempts <= times) throw Object.assign(new Error('failed'), failure)
  })
  await running.catch(error => expect(error).toMatchObject(failure))
  return attempts
}

describe('a transaction that fails', () => {
  const conflict = { code: '40001' }
  const nested = (depth: number): object => (depth === 0 ? conflict : { cause: nested(depth - 1) })
  const endless: { cause?: object } = {}
  endless.cause = endless

  test.each<[string, object]>([
    ['a serialization failure', conflict],
    ['a deadlock', { code: '40P01' }],
    ['idle_in_transaction_session_timeout', { code: '25P03' }],
    ['a conflict that an ORM reports as the cause of its own error', nested(1)],
    ['a conflict at the end of a chain of six causes', nested(6)],
    ['a conflict whose code is in Prisma’s property originalCode', { cause: { originalCode: '40001' } }],
    [
      'a conflict that a driver adapter of Prisma reports',
      { meta: { driverAdapterError: { cause: { originalCode: '40001' } } } },
    ],
  ])('is repeated after %s until it succeeds', async (_, failure) => {
    expect(await countAttempts(failure, 5)).toBe(6)
  })

  test.each<[object, number]>([
    // The constraint may be the application's.
    [{ code: '23505' }, 3],
    ...['23503', '42501', '55P03', '57014', 'ECONNRESET'].map((code): [object, number] => [{ code }, 1]),
    [endless, 1],
  ])('with %o is tried %i times', async (failure, attempts) => {
    expect(await countAttempts(failure)).toBe(attempts)
  })

  test('is repeated after pauses that double up to a limit of 200 ms', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(0.8).mockRestore)
    const times: number[] = []
    const running = rejection(
      retryConflicts(createDeadline(700), async () => {
        times.push(performance.now())
        throw Object.assign(new Error('conflict'), conflict)
      }),
    )
    await vi.runAllTimersAsync()
    expect(await running).toMatchObject(conflict)
    const pauses = times.slice(1).map((time, index) => Math.round(time - (times[index] as number)))
    expect(pauses).toEqual([4, 8, 16, 32, 64, 128, 160, 160])
  })
})

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ max: 12 })
})
afterAll(() => server.stop())

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

test('a server that only speaks the protocol is rejected, because overlapping names could be registered', async () => {
  const version = 'PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64'
  const query = async (text: string, values: unknown[]) =>
    text.includes('SELECT version()') ? { rows: [{ version, isDistributed: 'false' }] } : pool.query(text, values)
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

describe('calls that wait', () => {
  /** Locks registrable domains in a transaction of the application, which ends with the returned function. */
  async function lock(...domains: readonly string[]): Promise<() => Promise<void>> {
    const client = await pool.connect()
    onTestFinished(async () => {
      await client.query('ROLLBACK')
      client.release()
    })
    await client.query('BEGIN')
    const query = (text: string, values: unknown[]) => client.query(text, values)
    await save(createPostgresStore({ database: { query }, findTeam }), '1', domains)
    return async () => void (await client.query('COMMIT'))
  }

  /** Creates a store that knows its engine, and counts its transactions. */
  async function open(options: Partial<PostgresStoreOptions> = {}) {
    await migrate({ database: pool })
    await pool.query('DELETE FROM domain_registration.names')
    const own = server.createPool()
    const store = createPostgresStore({ database: own, findTeam, ...options })
    await save(store, '1', ['first.com'])
    let transactions = 0
    own.on('acquire', () => {
      transactions += 1
    })
    return { own, store, countTransactions: () => transactions }
  }

  const callers = (count: number) => Array.from({ length: count }, (_, number) => `caller${number}.com`)

  test('for a registrable domain that somebody else has locked use only one connection', async () => {
    const { own, store } = await open()
    const unlock = await lock('hot.com')
    const waiting = Array.from({ length: 50 }, (_, number) => save(store, '1', [`n${number}.hot.com`]))
    const row = { teamId: '1', createdAt: new Date(0), synchronized: true }
    const importing = importDomains(store, [{ ...row, domainId: createUuidGenerator()(), domain: 'import.hot.com' }])
    expect(await save(store, '1', ['other.com'])).toHaveLength(1)
    expect(own.totalCount - own.idleCount).toBeLessThanOrEqual(1)
    await unlock()
    expect((await Promise.all(waiting)).map(({ length }) => length)).toEqual(Array(50).fill(1))
    expect(await importing).toMatchObject({ imported: 1 })
  })

  test('leave connections for others, even if somebody else has locked more domains than that', async () => {
    const { own, store } = await open()
    const domains = manyDomains(12)
    const unlock = await lock(...domains)
    const waiting = domains.map(domain => save(store, '1', [`www.${domain}`]))
    for (const caller of callers(20)) {
      expect(await save(store, '2', [caller])).toHaveLength(1)
      expect(own.totalCount - own.idleCount).toBeLessThan(10)
    }
    await unlock()
    expect((await Promise.all(waiting)).flat()).toHaveLength(12)
  })

  test('share transactions, and a lock of somebody else makes only its own call late', async () => {
    const { store, countTransactions } = await open()
    const unlock = await lock('locked.com')
    const others = callers(60)
    const calls = [...others, 'www.locked.com'].map(domain => save(store, '1', [domain]))
    const locked = calls.pop()
    expect((await Promise.all(calls)).flat()).toHaveLength(60)
    await unlock()
    expect(await locked).toHaveLength(1)
    expect(countTransactions()).toBeLessThan(61)
  })

  test('share transactions, and each sees what those before it save', async () => {
    const { store, countTransactions } = await open()
    // These calls begin at once, and the others share the next transaction.
    const before = callers(3).map(domain => save(store, '1', [domain]))
    const calls = Array.from({ length: 20 }, (_, number) => {
      const team = number % 2 === 0 ? team1 : team2
      return registerDomains(team, { domains: [`shared${number % 5}.com`] }, store)
    })
    const results = (await Promise.all(calls)).flatMap(({ data }) => data.results)
    await Promise.all(before)
    expect(countTransactions()).toBe(4)
    const created = results.slice(0, 5)
    expect(created.map(({ status }) => status)).toEqual(Array(5).fill('created'))
    for (const [number, result] of results.entries()) {
      const first = number % 5
      if (number === first) continue
      const isSameTeam = (number - first) % 2 === 0
      expect(result).toMatchObject(
        isSameTeam ? { ...created[first], status: 'existing' } : { code: 'domain_already_licensed' },
      )
    }
  })

  test('share transactions, and one that cannot be saved fails alone', async () => {
    const { store, countTransactions } = await open()
    await pool.query(`ALTER TABLE domain_registration.names ADD CONSTRAINT no_poison CHECK (domain <> 'poison.com')`)
    onTestFinished(
      async () => void (await pool.query('ALTER TABLE domain_registration.names DROP CONSTRAINT no_poison')),
    )
    const calls = ['poison.com', ...callers(60)].map(domain => save(store, '1', [domain]))
    const results = await Promise.allSettled(calls.reverse())
    const failures = results.flatMap(result => (result.status === 'rejected' ? result.reason : []))
    expect(failures).toMatchObject([{ code: '23514' }])
    expect(await store.count()).toBe(61)
    expect(countTransactions()).toBeLessThan(30)
  })

  test('share no transactions on Citus', async () => {
    const { own } = await open()
    let transactions = 0
    // PostgreSQL accepts the settings of extensions that it does not have.
    const database: PostgresBridge = {
      query: async (text, values) =>
        text.includes('pg_extension')
          ? { rows: [{ version: 'PostgreSQL 15.1', isDistributed: 'true' }] }
          : own.query(text, values),
      async transaction(work) {
        transactions += 1
        const client = await own.connect()
        await client.query('BEGIN')
        const result = await work({ query: (text, values) => client.query(text, values) })
        await client.query('COMMIT')
        client.release()
        return result
      },
    }
    const { store } = await open({ database })
    transactions = 0
    expect((await Promise.all(callers(40).map(domain => save(store, '1', [domain])))).flat()).toHaveLength(40)
    expect(transactions).toBe(40)
  })
})
