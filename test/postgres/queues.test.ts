import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { createQueues } from '../../src/postgres/transaction.ts'
import { createDeadline, type Deadline, TimeLimitError } from '../../src/time/deadline.ts'
import { counts, seed } from '../counts.ts'
import { rejection, team1, teams } from '../fixtures.ts'
import { createRandom } from '../random.ts'
import { openDatabase, type TestServer } from './server.ts'

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

  test('still run two at a time after one of them has timed out in the queue', async () => {
    const { begun, call, end } = createCalls()
    for (const name of ['1', '2', '3']) void call(name, ['a.com'])
    await expect(call('late', ['a.com'], 20)).rejects.toThrow(TimeLimitError)
    expect(begun).toEqual(['1', '2'])
    void call('4', ['a.com'])
    await end('1')
    await end('2')
    expect(begun).toEqual(['1', '2', '3', '4'])
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

describe('on PostgreSQL', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await openDatabase()
    await migrate({ database: server.createPool() })
  })
  afterAll(() => server.stop())

  test('fifty calls for a locked registrable domain use only two connections, so other calls succeed', async () => {
    const pool = server.createPool({ max: 4 })
    const client = await server.createPool().connect()
    onTestFinished(async () => {
      await client.query('ROLLBACK')
      client.release()
    })
    const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
    const query = (text: string, values: unknown[]) => client.query(text, values)
    await client.query('BEGIN')
    const open = createPostgresStore({ database: { query }, findTeam })
    await registerDomains(team1, { domains: ['hot.com'] }, open)

    const store = createPostgresStore({ database: pool, findTeam })
    const waiting = Array.from({ length: 50 }, (_, n) => registerDomains(team1, { domains: [`n${n}.hot.com`] }, store))
    const { data } = await registerDomains(team1, { domains: ['other.com'] }, store)
    expect(data.totals.created).toBe(1)
    expect(pool.totalCount - pool.idleCount).toBe(2)
    await client.query('COMMIT')
    const totals = (await Promise.all(waiting)).map(answer => answer.data.totals)
    expect(totals).toEqual(Array(50).fill({ created: 1, existing: 0, invalid: 0 }))
  })
})
