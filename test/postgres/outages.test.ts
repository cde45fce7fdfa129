import express from 'express'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { createPostgresKeyStore, createPostgresStore, migrate, type PostgresBridge } from '../../src/postgres/index.ts'
import { save, toDomains } from '../../src/testing/calls.ts'
import type { DomainResult } from '../../src/wire/results.ts'
import { counts } from '../counts.ts'
import { rejection, team1, teams } from '../fixtures.ts'
import { listen, type RunningServer } from '../listen.ts'
import { waitFor } from '../wait-for.ts'
import {
  createFaultyNetwork,
  cutAfter,
  endWhenReady,
  type FaultyNetwork,
  loseAnswerToCommit,
  loseCommit,
  noFault,
  onlyOnce,
  refuseBegin,
  silence,
} from './faulty-network.ts'
import { createMortalServer, type MortalServer } from './mortal-server.ts'
import { openDatabase, type TestServer } from './server.ts'

const table = 'domain_registration.names'
/** The application name of our connections. */
const OURS = 'ours'
const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

let server: TestServer
let network: FaultyNetwork
/** A program that connects to the database directly, without the faulty network. */
let foreign: Pool
beforeAll(async () => {
  server = await openDatabase()
  network = await createFaultyNetwork({ host: '127.0.0.1', port: server.config.port as number })
  foreign = server.createPool({ options: '-c default_transaction_read_only=off' })
  await migrate({ database: foreign })
})
beforeEach(async () => {
  network.suffer(noFault)
  await foreign.query(`DELETE FROM ${table}`)
})
afterAll(async () => {
  await network.goDown()
  await server.stop()
})

const createPool = (options: PoolConfig = {}) =>
  server.createPool({ port: network.port, max: 1, connectionTimeoutMillis: 5000, pipeline: true, ...options })

const held = async (): Promise<{ domain: string; domain_id: string }[]> =>
  (await foreign.query('SELECT domain, domain_id FROM domain_registration.names ORDER BY domain')).rows
const heldIds = async () => new Map((await held()).map(row => [row.domain, row.domain_id]))

const toIds = ({ results }: { results: readonly DomainResult[] }) =>
  results.map(result => ('domainId' in result ? result.domainId : null))

describe('over HTTP', () => {
  let pool: Pool
  let http: RunningServer
  let key: string
  const onError = vi.fn()
  beforeEach(async () => {
    pool = createPool({ connectionTimeoutMillis: 500 })
    const keys = createPostgresKeyStore({ database: pool, timeLimit: 1000 })
    const issued = await generateApiKey({ type: 'team', id: '1' })
    key = issued.key
    await keys.addKey({ hash: issued.hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
    const app = express()
    for (const [mount, timeLimit] of [
      ['/', 10_000],
      ['/impatient', 300],
    ] as const) {
      const store = createPostgresStore({ database: pool, findTeam, timeLimit })
      app.use(mount, domainsRouter({ store, keys, onError }))
      app.use(mount, domainsRouter({ store, authenticate: () => team1, onError, path: '/known-caller' }))
    }
    http = await listen(app)
    onError.mockClear()
  })
  afterEach(async () => {
    await http.close()
    await pool.end()
  })

  type Path = '/v1/domains' | '/known-caller'
  async function post(path: Path | `/impatient${Path}`, domains: readonly string[]) {
    const response = await fetch(`${http.origin}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ domains }),
    })
    return { status: response.status, ...(await response.json()) }
  }

  let borrowed: PoolClient | undefined
  /**
   * Changes the setting only for new sessions, and only for this database, because other test files share the server.
   */
  const setDatabaseReadOnly = (value: 'on' | 'off') =>
    foreign.query(`ALTER DATABASE ${server.config.database} SET default_transaction_read_only = ${value}`)
  const becomeReadOnly = async () => {
    await setDatabaseReadOnly('on')
    await pool.query('SET default_transaction_read_only = on')
  }
  const borrow = async () => {
    borrowed = await pool.connect()
  }
  const endFault = async () => network.suffer(noFault)
  const lockTable = async () => {
    borrowed = await foreign.connect()
    await borrowed.query(`BEGIN; LOCK TABLE ${table}`)
  }
  const unlockTable = async () => {
    await borrowed?.query('ROLLBACK')
    borrowed?.release()
  }

  test.each<[string, begin: () => Promise<unknown>, end: () => Promise<unknown>]>([
    ['no connection of the pool is free', borrow, async () => borrowed?.release()],
    ['connections are refused', () => network.goDown(), () => network.comeUp()],
    ['the network is silent', async () => network.suffer(silence), endFault],
    ['every COMMIT is lost on the way', async () => network.suffer(loseCommit), endFault],
    ['the server has become read-only', becomeReadOnly, () => setDatabaseReadOnly('off')],
    ['another session keeps a lock on the whole table', lockTable, unlockTable],
  ])('while %s, a call gets a 500 and saves nothing, and a later retry succeeds', async (_, begin, end) => {
    const domains = ['example.com', 'www.example.com', 'localhost', 'example.org']
    await begin()
    const failed = await post('/impatient/known-caller', domains)
    const failures = onError.mock.calls.map(([error]) => error)
    const unknownCaller = await post('/impatient/v1/domains', domains)
    await end()

    expect(failed).toMatchObject({ status: 500, error: 'internal_error' })
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) expect(failure).toBeInstanceOf(Error)
    // A call that looks up its key in the same database.
    expect(unknownCaller).toMatchObject({ status: 500, error: 'internal_error' })
    expect(onError).toHaveBeenCalledTimes(failures.length + 1)
    expect(await held()).toEqual([])

    const created = await waitFor(async () => {
      const { data } = await post('/v1/domains', domains)
      expect(data?.totals).toEqual({ created: 3, existing: 0, invalid: 1 })
      return data
    })
    const { data } = await post('/v1/domains', domains)
    expect(data.totals).toEqual({ created: 0, existing: 3, invalid: 1 })
    expect(toIds(data)).toEqual(toIds(created))
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0])
  })

  test('a call for several domains reports names as created even if the response to COMMIT is lost', async () => {
    const domains = ['example.com', 'example.org']
    network.suffer(onlyOnce(loseAnswerToCommit))
    const { data } = await post('/known-caller', domains)
    const ids = await heldIds()
    expect(data.results).toMatchObject(
      domains.map(domain => ({ status: 'created', domain, domainId: ids.get(domain) })),
    )
    expect(onError).not.toHaveBeenCalled()
  })

  test('if the response to COMMIT is lost, a call for one name says that the name may have been saved', async () => {
    network.suffer(onlyOnce(loseAnswerToCommit))
    expect(await post('/known-caller', ['example.com'])).toEqual({
      status: 500,
      error: 'internal_error',
      message: 'The domains may or may not have been saved. Send the same call again: that is safe.',
    })
    const { data } = await post('/known-caller', ['example.com'])
    expect(data.totals).toEqual({ created: 0, existing: 1, invalid: 0 })
  })
})

describe.each([
  ['with pipelined statements', true],
  ['without pipelining', false],
])('%s,', (_, pipeline) => {
  /** One call on its own connection. */
  async function call(domains: readonly string[]) {
    const pool = createPool({ pipeline, application_name: OURS })
    const store = createPostgresStore({ database: pool, findTeam, timeLimit: 5000 })
    try {
      return (await registerDomains(team1, { domains }, store)).data
    } catch (error) {
      expect(error).toMatchObject({ status: 500 })
      return { results: [], totals: { created: 0, existing: 0, invalid: domains.length } }
    } finally {
      await pool.end()
    }
  }

  /** Once a server has received a COMMIT, it carries the COMMIT out, even if the connection is gone. */
  const untilNobodyWorks = () =>
    waitFor(async () => {
      const { rows } = await foreign.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [OURS])
      expect(rows).toEqual([])
    })

  test.each([
    ['client', ['acknowledged, all saved', 'failed, nothing saved']],
    ['server', ['acknowledged, all saved', 'failed, all saved', 'failed, nothing saved']],
  ] as const)(
    'a call is saved as a whole or not at all, wherever the data from the %s is cut off',
    async (end, expected) => {
      const before = network.carried[end]
      await call(['measured.com', 'www.measured.com', '*.sub.measured.com'])
      const length = network.carried[end] - before
      const cuts = Array.from({ length: counts.cuts }, (_, index) => Math.floor((length * index) / counts.cuts))
      // The last bytes contain the COMMIT and its response.
      const lastCuts = Array.from({ length: 12 }, (_, index) => length - 2 * index - 1)
      const fates = new Set<string>()
      for (const cut of new Set([...cuts, ...lastCuts, length + 1000])) fates.add(await cutAndRetry(cut, end))
      expect([...fates].toSorted()).toEqual(expected)
    },
  )

  test('if the connection ends as soon as it is ready, a call fails, but the process continues', async () => {
    network.suffer(endWhenReady)
    expect((await call(['example.com'])).totals).toEqual({ created: 0, existing: 0, invalid: 1 })
    network.suffer(noFault)
    expect((await call(['example.com'])).totals.created).toBe(1)
  })

  test('a call whose BEGIN is rejected by a pooler saves nothing, and succeeds when it is retried', async () => {
    const pool = createPool({ pipeline })
    const store = createPostgresStore({ database: pool, findTeam })
    await save(store, '1', ['a.com'])
    await save(store, '1', ['b.a.com'])
    network.suffer(refuseBegin)
    expect(await rejection(save(store, '1', ['c.a.com']))).toMatchObject({ code: '53300' })
    expect([...(await heldIds()).keys()]).toEqual(['a.com', 'b.a.com'])
    network.suffer(noFault)
    expect(await save(store, '1', ['c.a.com'])).toHaveLength(1)
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  })

  async function cutAndRetry(cut: number, end: 'client' | 'server'): Promise<string> {
    const domains = [`cut-${cut}.com`, `www.cut-${cut}.com`, `*.sub.cut-${cut}.com`]
    network.suffer(cutAfter(cut, end))
    const first = await call(domains)
    network.suffer(noFault)
    await untilNobodyWorks()
    const held = await heldIds()
    const saved = domains.flatMap(domain => held.get(domain) ?? [])
    expect([0, 3]).toContain(saved.length)

    const isAcknowledged = first.totals.created > 0
    if (isAcknowledged) expect(toIds(first)).toEqual(saved)

    const again = await call(domains)
    expect(again.totals).toEqual({ created: 3 - saved.length, existing: saved.length, invalid: 0 })
    if (saved.length > 0) expect(toIds(again)).toEqual(saved)
    return `${isAcknowledged ? 'acknowledged' : 'failed'}, ${saved.length > 0 ? 'all' : 'nothing'} saved`
  }
})

describe('on a server that crashes,', () => {
  let mortal: MortalServer
  beforeAll(async () => {
    mortal = await createMortalServer(['--wal-segsize=1'])
    await mortal.start()
  })
  afterAll(() => mortal.remove())

  test('a full disk fails only calls that need space, and they succeed once there is space', async () => {
    // A write to a file that has reached its maximum size fails like a write to a full disk. The files of the
    // write-ahead log stay below this size, so writes to the log still succeed.
    const fill = `INSERT INTO ${table}
      SELECT gen_random_uuid(), now(), 'n' || n || '.com', '', 'n' || n || '.com', 'n' || n || '.com', '2'
      FROM generate_series(1, 30000) AS n`
    const pool = new Pool({ ...mortal.config, max: 1, pipeline: true })
    pool.on('error', () => {})
    await migrate({ database: pool })
    await pool.query(fill)
    const { rows } = await pool.query(`SELECT pg_relation_size('${table}')::integer AS size`)
    await mortal.killAll()
    await mortal.start(rows[0].size)

    const store = createPostgresStore({ database: pool, findTeam })
    const register = async (domains: readonly string[]) => (await registerDomains(team1, { domains }, store)).data
    const count = async () =>
      (await pool.query("SELECT count(*)::integer FROM domain_registration.names WHERE team_id = '1'")).rows[0].count
    const domains = Array.from({ length: 100 }, (_, index) => `host-${index}.large.org`)
    const failure = await rejection(register(domains))
    expect(String((failure as { cause: unknown }).cause)).toMatch(/could not (extend|write)/)
    expect(await count()).toBe(0)

    await mortal.killAll()
    await mortal.start()
    const created = await register(domains)
    expect(created.totals).toEqual({ created: 100, existing: 0, invalid: 0 })
    expect((await register(domains)).results).toEqual(
      created.results.map(result => ({ ...result, status: 'existing' })),
    )
    await pool.end()
  })

  test('with synchronous_commit = off, everything that was acknowledged survives a crash', async () => {
    const admin = new Pool(mortal.config)
    await migrate({ database: admin })
    // The process that writes the log in the background stays asleep, so only commits that wait reach the disk.
    await admin.query("ALTER SYSTEM SET wal_writer_delay = '10s'")
    await admin.query(`ALTER DATABASE ${mortal.config.database} SET synchronous_commit = 'off'`)
    await admin.query('SELECT pg_reload_conf()')
    await admin.end()

    const pool = new Pool(mortal.config)
    pool.on('error', () => {})
    expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
    const store = createPostgresStore({ database: pool, findTeam })
    const bridged = createPostgresStore({ database: toBridge(pool), findTeam })
    const keys = createPostgresKeyStore({ database: pool })
    const { hash } = await generateApiKey({ type: 'team', id: '1' })
    await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: [] })
    await save(store, '3', ['released.com'])
    const names = Array.from({ length: 20 }, (_, index) => `acknowledged-${index}.com`)
    for (const [index, name] of names.entries()) await save(index % 2 === 0 ? store : bridged, '3', [name])
    await store.release('3', ['released.com'])
    await keys.revokeKey(hash)
    await mortal.killAll()

    await mortal.start()
    expect(toDomains(await store.list({ teamId: '3' }))).toEqual(names)
    expect(await keys.findKey(hash)).toMatchObject({ revokedAt: expect.any(Date) })
    await pool.end()
  })

  test('a stronger synchronous_commit is kept', async () => {
    const strong = new Pool({ ...mortal.config, options: '-c synchronous_commit=remote_apply' })
    const settings: unknown[] = []
    const watched = toBridge(strong, async client => {
      settings.push(...(await client.query('SHOW synchronous_commit')).rows)
    })
    await save(createPostgresStore({ database: watched, findTeam }), '1', ['strong.com'])
    await strong.end()
    expect(settings).toContainEqual({ synchronous_commit: 'remote_apply' })
    expect(settings).not.toContainEqual({ synchronous_commit: 'on' })
  })
})

/** A bridge to `pg`, for calls that succeed. */
const toBridge = (pool: Pool, beforeCommit = async (_: PoolClient) => {}): PostgresBridge => ({
  query: (text, values) => pool.query(text, values),
  async transaction(work) {
    const client = await pool.connect()
    await client.query('BEGIN')
    const result = await work({ query: (text, values) => client.query(text, values) })
    await beforeCommit(client)
    await client.query('COMMIT')
    client.release()
    return result
  },
})
