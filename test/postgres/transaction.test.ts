import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { transfer } from '../../src/operations/transfer.ts'
import {
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import { createQueues, retryConflicts } from '../../src/postgres/transaction.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { createDeadline, type Deadline, TimeLimitError } from '../../src/time/deadline.ts'
import { counts, seed } from '../counts.ts'
import { rejection, teams } from '../fixtures.ts'
import { createRandom } from '../random.ts'
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

const soon = () => new Promise(resolve => setImmediate(resolve))

/** Starts calls that end only on command, and lists the calls that have begun. */
function createCalls() {
  const queues = createQueues()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    call: (name: string, keys: readonly string[], milliseconds = 10_000) =>
      queues.run(keys, createDeadline(milliseconds), () => {
        begun.push(name)
        return new Promise<void>(resolve => ends.set(name, resolve))
      }),
    async end(name: string) {
      ends.get(name)?.()
      await soon()
    },
  }
}

describe('calls that share a registrable domain', () => {
  test('run two at a time, in order of arrival, and calls for other domains do not wait for them', async () => {
    const { begun, call, end } = createCalls()
    for (const name of ['1', '2', '3', '4']) void call(name, ['a.com'])
    void call('elsewhere', ['b.com'])
    await soon()
    expect(begun).toEqual(['1', '2', 'elsewhere'])
    await end('2')
    await end('1')
    expect(begun).toEqual(['1', '2', 'elsewhere', '3', '4'])
  })

  test('leave the queue when they time out, so the calls behind them continue', async () => {
    const { begun, call, end } = createCalls()
    for (const name of ['1', '2']) void call(name, ['b.com'])
    await expect(call('late', ['a.com', 'b.com'], 20)).rejects.toThrow(TimeLimitError)
    void call('3', ['b.com'])
    void call('4', ['a.com'])
    void call('5', ['a.com'])
    await end('1')
    expect(begun).toEqual(['1', '2', '4', '5', '3'])
  })

  test('pass their turn on to the next call if they time out just as their turn comes', async () => {
    const queues = createQueues()
    const ends: (() => void)[] = []
    const run = <T>(work: () => Promise<T>, deadline = createDeadline(2000)) => queues.run(['a.com'], deadline, work)
    for (let call = 0; call < 2; call += 1) void run(() => new Promise<void>(resolve => ends.push(resolve)))
    const late: Deadline = {
      ...createDeadline(2000),
      wait: async turn => {
        await turn
        throw new TimeLimitError('late')
      },
    }
    const failing = rejection(run(async () => {}, late))
    const next = run(async () => 'next')
    ends[0]?.()
    expect(await failing).toBeInstanceOf(TimeLimitError)
    expect(await next).toBe('next')
    ends[1]?.()
  })

  test('take only one turn each, even if they list the domain twice', async () => {
    const { begun, call } = createCalls()
    for (const name of ['1', '2']) void call(name, ['a.com', 'a.com'])
    await soon()
    expect(begun).toEqual(['1', '2'])
  })

  test('leave the queue when they fail, so the calls behind them continue', async () => {
    const queues = createQueues()
    const deadline = createDeadline(10_000)
    const fail = () => queues.run(['a.com'], deadline, () => Promise.reject(new Error('failed')))
    const failures = await Promise.allSettled([fail(), fail(), fail(), fail()])
    expect(failures.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
  })

  test(`all get their turn, whichever domains they share, with SEED=${seed}`, async () => {
    const random = createRandom(seed)
    const queues = createQueues()
    const running = new Map<string, number>()
    const domains = ['a.com', 'b.com', 'c.com', 'd.com']
    const enter = (keys: readonly string[], by: number) => {
      for (const key of keys) running.set(key, (running.get(key) ?? 0) + by)
      expect(Math.max(...running.values())).toBeLessThanOrEqual(2)
    }
    const work = Array.from({ length: counts.races * 10 }, () => {
      const keys = domains.filter(() => random.chance(0.4))
      return queues.run(keys, createDeadline(20_000), async () => {
        enter(keys, 1)
        for (let turn = random.integer(0, 3); turn > 0; turn -= 1) await soon()
        enter(keys, -1)
      })
    })
    await Promise.all(work)
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

test('fifty calls for a locked registrable domain use only two connections, so other calls succeed', async () => {
  await migrate({ database: pool })
  const client = await pool.connect()
  onTestFinished(async () => {
    await client.query('ROLLBACK')
    client.release()
  })
  await client.query('BEGIN')
  const query = (text: string, values: unknown[]) => client.query(text, values)
  await save(createPostgresStore({ database: { query }, findTeam }), '1', ['hot.com'])

  const few = server.createPool({ max: 4 })
  const store = createPostgresStore({ database: few, findTeam })
  const waiting = Array.from({ length: 50 }, (_, number) => save(store, '1', [`n${number}.hot.com`]))
  expect(await save(store, '1', ['other.com'])).toHaveLength(1)
  expect(few.totalCount - few.idleCount).toBe(2)
  await client.query('COMMIT')
  expect((await Promise.all(waiting)).map(({ length }) => length)).toEqual(Array(50).fill(1))
})
