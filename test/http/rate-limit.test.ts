import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import express from 'express'
import type { PoolConfig } from 'pg'
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterPostgres,
  type RLWrapperBlackAndWhite,
} from 'rate-limiter-flexible'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import type { HandlerOptions, RateLimiter } from '../../src/http/index.ts'
import { hashApiKey } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen } from '../listen.ts'
import { openDatabase } from '../postgres/server.ts'
import { expectHarmless } from './harmless.ts'

/** A server with a limiter, for one test. Every response is checked against the documentation. */
async function serve(options: Partial<HandlerOptions>) {
  const { keys, issue } = createKeys()
  const teamKey = await issue('team', '1')
  const onError = vi.fn()
  const router = domainsRouter({ store: createStore(), keys, onError, ...options } as HandlerOptions)
  const { origin, close } = await listen(express().use(router))
  onTestFinished(close)
  async function post(key: string | null = teamKey, body = '{"domains":["www.example.com"]}') {
    const response = await fetch(`${origin}/v1/domains`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
      body,
    })
    const answer = { status: response.status, body: await response.text() }
    await expectHarmless({ ...answer, headers: new Map(response.headers) }, [teamKey, await hashApiKey(teamKey)])
    return { ...answer, headers: response.headers }
  }
  return { post, teamKey, issue, onError }
}

test('limiters of rate-limiter-flexible are assignable to RateLimiter', () => {
  expectTypeOf<RateLimiterMemory>().toExtend<RateLimiter>()
  expectTypeOf<RateLimiterPostgres>().toExtend<RateLimiter>()
  expectTypeOf<BurstyRateLimiter>().toExtend<RateLimiter>()
  expectTypeOf<RLWrapperBlackAndWhite>().toExtend<RateLimiter>()
  expectTypeOf<{ consume(key: string): Promise<void> }>().not.toExtend<RateLimiter>()
})

test('a caller that waits as long as Retry-After says is accepted again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { post } = await serve({ rateLimiter: new RateLimiterMemory({ points: 1, duration: 60 }) })
  expect((await post()).status).toBe(200)
  const { status, headers } = await post()
  expect(status).toBe(429)
  const wait = Number(headers.get('Retry-After')) * 1000
  vi.setSystemTime(Date.now() + wait - 1000)
  expect((await post()).status).toBe(429)
  vi.setSystemTime(Date.now() + 1000)
  expect((await post()).status).toBe(200)
})

test('two servers share a limit in PostgreSQL, and reject calls if the limiter’s table is missing', async () => {
  const server = await openDatabase()
  onTestFinished(() => server.stop())
  const pool = server.createPool()
  const rateLimiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const options = { storeClient: pool, tableName: 'limits', points: 2, duration: 60 }
    const limiter = new RateLimiterPostgres(options, error => (error ? reject(error) : resolve(limiter)))
  })
  const { keys, issue } = createKeys()
  const key = await issue('team', '1')
  for (const status of [200, 200, 429]) {
    const { post } = await serve({ rateLimiter, keys } as Partial<HandlerOptions>)
    expect((await post(key)).status).toBe(status)
  }
  const { rows } = await pool.query('SELECT key FROM limits')
  expect(rows).toEqual([{ key: `${rateLimiter.keyPrefix}:${await hashApiKey(key)}` }])
  await pool.query('DROP TABLE limits')
  const { post, onError } = await serve({ rateLimiter })
  expect((await post()).status).toBe(500)
  expect(onError.mock.calls).toMatchObject([[{ code: '42P01' }, { step: 'consume' }]])
})

test('a limiter counts calls by the hash of the key, and does not count calls without a valid key', async () => {
  const limiter = new RateLimiterMemory({ points: 1, duration: 60 })
  const consume = vi.spyOn(limiter, 'consume')
  const { post, teamKey, issue } = await serve({ rateLimiter: limiter })
  const sameTeam = await issue('team', '1')
  for (const key of [null, 'svc_team_1_00', null]) {
    const { status, headers } = await post(key)
    expect(status).toBe(401)
    expect(headers.has('RateLimit')).toBe(false)
  }
  expect((await post()).status).toBe(200)
  expect((await post()).status).toBe(429)
  expect((await post(sameTeam)).status).toBe(200)
  const hashes = [await hashApiKey(teamKey), await hashApiKey(teamKey), await hashApiKey(sameTeam)]
  expect(consume.mock.calls).toEqual(hashes.map(hash => [hash, 1]))
})

test('a BurstyRateLimiter allows bursts', async () => {
  const rateLimiter = new BurstyRateLimiter(
    new RateLimiterMemory({ points: 1, duration: 60 }),
    new RateLimiterMemory({ keyPrefix: 'burst', points: 2, duration: 600 }),
  )
  const { post } = await serve({ rateLimiter })
  for (const status of [200, 200, 200, 429]) {
    const answer = await post()
    expect(answer.status).toBe(status)
    expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=1')
    expect(answer.headers.get('RateLimit')).toMatch(/^"default";r=[0-9]+;t=(?:[1-5]?[0-9]|60)$/)
  }
})

test('if a limiter never restores points, RateLimit-Policy has no window, and Retry-After is an hour', async () => {
  const { post } = await serve({ rateLimiter: new RateLimiterMemory({ points: 1, duration: 0 }) })
  const { headers } = await post()
  expect([headers.get('RateLimit-Policy'), headers.get('RateLimit')]).toEqual(['"default";q=1', '"default";r=0'])
  const refused = await post()
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '3600'])
})

const left = (msBeforeNext: unknown, remainingPoints: unknown) => ({ msBeforeNext, remainingPoints })
test.each([
  ['reports an endless wait', { points: 5 }, left(1e25, 0), 429, '"default";r=0;t=999999999999999', '"default";q=5'],
  [
    'reports unlimited points',
    { points: 5 },
    left(0, 2 ** 53 - 1),
    200,
    '"default";r=999999999999999;t=1',
    '"default";q=5',
  ],
  ['has a NaN number of points', { points: Number.NaN }, left(1000, 1), 200, '"default";r=1;t=1', null],
  ['has a NaN duration', { points: 5, duration: Number.NaN }, left(1000, 1), 200, '"default";r=1;t=1', '"default";q=5'],
  ['has bigint values', { points: 5n, duration: 60n }, left(1000n, 4n), 200, '"default";r=4;t=1', '"default";q=5;w=60'],
])('the rate limit headers are valid even if the limiter %s', async (_, policy, answer, status, field, policyField) => {
  const consume = () => (status === 200 ? Promise.resolve(answer) : Promise.reject(answer))
  const { post } = await serve({ rateLimiter: { ...policy, consume } as never })
  const { status: answered, headers } = await post()
  expect([answered, headers.get('RateLimit')]).toEqual([status, field])
  expect(headers.get('RateLimit-Policy')).toBe(policyField)
  if (status === 429) expect(headers.get('Retry-After')).toBe('999999999999999')
})

/** Lets the time limit of this one call pass immediately, so the limit itself can be long enough for other work. */
function hang(): Promise<never> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  setImmediate(() => {
    vi.runOnlyPendingTimers()
    vi.useRealTimers()
  })
  return new Promise(() => {})
}

const failures: [string, () => unknown][] = [
  ['rejects with an error', () => Promise.reject(new Error('down'))],
  ['rejects with undefined', () => Promise.reject(undefined)],
  ['throws', () => expect.fail('down')],
  ['hangs', hang],
  ['resolves to undefined', () => Promise.resolve()],
  ['resolves to an object without the expected fields', () => Promise.resolve({ allowed: true })],
  [
    'resolves to values that are not numbers',
    () => Promise.resolve({ msBeforeNext: Number.NaN, remainingPoints: '5' }),
  ],
]

test.each(failures)('if the limiter %s, calls get 500, and onError is called', async (_, consume) => {
  const { post, onError } = await serve({ rateLimiter: { points: 5, consume } as never })
  const { status, headers, body } = await post()
  expect(status).toBe(500)
  expect(JSON.parse(body)).toEqual({
    error: 'internal_error',
    message: 'The rate limit could not be checked; nothing was changed. Send the same call again: that is safe.',
  })
  expect(headers.has('RateLimit')).toBe(false)
  expect(onError.mock.calls).toEqual([[expect.any(Error), expect.objectContaining({ step: 'consume' })]])
})

test('a limiter whose store is down counts in memory if it has an insuranceLimiter', async () => {
  const storeClient = { query: () => Promise.reject(new Error('down')) }
  const rateLimiter = new RateLimiterPostgres({
    storeClient,
    storeType: 'pool',
    tableCreated: true,
    points: 5,
    duration: 60,
    insuranceLimiter: new RateLimiterMemory({ points: 1, duration: 60 }),
  })
  const { post, onError } = await serve({ rateLimiter })
  expect([(await post()).status, (await post()).status]).toEqual([200, 429])
  expect(onError).not.toHaveBeenCalled()
})

describe('the limiter in docs/your-server.md', () => {
  const page = readFileSync(new URL('../../docs/your-server.md', import.meta.url), 'utf8')
  const [, sql = '', program = ''] = /^## Rate limits$.*?```sql\n(.*?)```.*?```ts\n(.*?)```/ms.exec(page) ?? []

  /** Starts the program, and consumes a point once its first queries have had time to fail. */
  async function run({ user = 'a', password = 'a', host, port, database = 'a' }: PoolConfig) {
    const end = `await new Promise(resolve => setTimeout(resolve, 100))
      console.log((await rateLimiter.consume('key')).consumedPoints)
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program + end], {
      cwd: new URL('../..', import.meta.url),
      env: { ...process.env, DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${database}` },
    })
    return stdout
  }

  test('counts in PostgreSQL', async () => {
    const server = await openDatabase()
    onTestFinished(() => server.stop())
    const pool = server.createPool()
    await pool.query(sql)
    expect([await run(server.config), await run(server.config)]).toEqual(['1\n', '2\n'])
  })

  test('counts in memory while the database is away at the start, or accepts and never answers', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer(socket => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const config = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port }
    expect(await run(config)).toBe('1\n')
    for (const socket of sockets) socket.destroy()
    silent.close()
    await once(silent, 'close')
    expect(await run(config)).toBe('1\n')
  })
})

test('with the application’s own authenticate, a limiter counts calls by team or organization', async () => {
  const limiter = new RateLimiterMemory({ points: 9, duration: 60 })
  const consume = vi.spyOn(limiter, 'consume')
  const contexts = [
    { type: 'team', teamId: '1', scopes: ['domains:create'] },
    { type: 'organization', organizationId: '1', scopes: ['domains:create'] },
  ]
  const authenticate = () => contexts[consume.mock.calls.length]
  const { post } = await serve({ rateLimiter: limiter, keys: undefined, authenticate } as never)
  expect((await post()).status).toBe(200)
  expect((await post()).status).toBe(400)
  expect(consume.mock.calls).toEqual([
    ['team:1', 1],
    ['organization:1', 1],
  ])
})
