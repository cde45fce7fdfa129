import type { Pool, PoolConfig } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { toDatabase } from '../../src/postgres/drivers/driver-options.ts'
import {
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresStoreOptions,
} from '../../src/postgres/index.ts'
import { createRequest, lookUp, manyDomains, save, toDomains, toTestName } from '../../src/testing/calls.ts'
import { createDeadline, TimeLimitError } from '../../src/time/deadline.ts'
import { rejection, teams } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '50ms' })
  await migrate({ database: server.createPool() })
})
afterAll(() => server.stop())

const names = 'domain_registration.names'

/** A connection of another program on the same database. */
let foreign: Pool
beforeEach(async () => {
  foreign = server.createPool()
  await foreign.query(`DELETE FROM ${names}`)
})
afterEach(async () => {
  await foreign.query(`DROP TRIGGER IF EXISTS saboteur ON ${names}`)
  await foreign.end()
})

function createStore(options: Partial<PostgresStoreOptions> = {}, poolOptions: PoolConfig = {}) {
  const pool = server.createPool({ pipeline: true, max: 1, ...poolOptions })
  const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
  return { database: pool, store: createPostgresStore({ database: pool, findTeam, timeLimit: 5000, ...options }) }
}

/** Makes the database run a statement of PL/pgSQL when the row with this path is saved. */
async function sabotage(path: string, statement: string, kind = 'TRIGGER'): Promise<void> {
  await foreign.query(`
    CREATE OR REPLACE FUNCTION saboteur() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.path = '.${path}' THEN ${statement}; END IF; RETURN NEW; END $$;
    CREATE ${kind} saboteur ${kind === 'TRIGGER' ? 'BEFORE' : 'AFTER'} INSERT ON ${names}
      ${kind === 'TRIGGER' ? '' : 'DEFERRABLE INITIALLY DEFERRED'} FOR EACH ROW EXECUTE FUNCTION saboteur()`)
}

const waitUntilLocking = (count: number) =>
  waitFor(async () => {
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    expect((await foreign.query(waiting)).rowCount).toBe(count)
  })

/** Runs work while another program has a lock on every row. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const other = await foreign.connect()
  try {
    await other.query('BEGIN; SELECT FROM domain_registration.locks FOR UPDATE')
    return await work()
  } finally {
    await other.query('COMMIT')
    other.release()
  }
}

const held = async () => (await foreign.query('SELECT domain FROM domain_registration.names')).rows
const countInLog = (text: string) => server.readLog().split(text).length - 1
const countDeadlocks = () => countInLog('ERROR:  deadlock detected')
const countLockTimeouts = () => countInLog('ERROR:  canceling statement due to lock timeout')

test.each([
  ['takes no callback', (pool: Pool) => () => pool.connect()],
  ['is wrapped in an asynchronous function', (pool: Pool) => async (done: never) => pool.connect(done)],
])(
  'accepts a pool whose `connect` %s, and rejects with the pool’s error once the pool is closed',
  async (_, toConnect) => {
    const { database: pool, store } = createStore()
    const behind = createPostgresStore({ database: { connect: toConnect(pool) }, findTeam: () => null })
    await save(behind, '1', ['a.com', 'b.com'])
    expect(await lookUp(store, '2', ['a.com'])).toMatchObject({ registrations: [{ teamId: '1' }] })
    await pool.end()
    await expect(save(behind, '1', ['c.com'])).rejects.toThrow('after calling end on the pool')
  },
)

test('rejects a call that would save a name without locking its registrable domain, and saves nothing', async () => {
  const { store } = createStore()
  const request = createRequest('1', [toTestName('a.com')], [], () => ['a.com', 'b.com'].map(toTestName))
  await expect(store.register(request)).rejects.toThrow('not locked')
  expect(await held()).toEqual([])
})

test('does not deadlock if two releases list the same names in opposite orders', async () => {
  const domains = ['a.com', 'm.com', 'z.com']
  const [{ store }, { store: other }] = [createStore(), createStore()]
  await save(store, '1', domains)
  const before = countDeadlocks()
  const third = await foreign.connect()
  await third.query("BEGIN; SELECT FROM domain_registration.locks WHERE registrable_domain = 'm.com' FOR UPDATE")
  const releasing = [store.release('1', domains), other.release('1', domains.toReversed())]
  await waitUntilLocking(2)
  await third.query('COMMIT')
  third.release()
  expect((await Promise.all(releasing)).map(({ length }) => length).sort()).toEqual([0, 3])
  expect(countDeadlocks()).toBe(before)
})

test('locks each name of a release, registered or not, so no other call can register it meanwhile', async () => {
  const { store } = createStore()
  await save(store, '1', ['a.com', 'www.z.com'])
  const other = await foreign.connect()
  await other.query("BEGIN; SELECT FROM domain_registration.locks WHERE registrable_domain = 'z.com' FOR UPDATE")
  const releasing = store.release('1', ['a.com', 'z.com'])
  await waitUntilLocking(1)
  await other.query('COMMIT')
  other.release()
  expect(toDomains(await releasing)).toEqual(['a.com'])
})

test('completes a release of two names even if another program deletes one of them meanwhile', async () => {
  const { store } = createStore()
  await save(store, '1', ['a.com', 'b.com'])
  const other = await foreign.connect()
  await other.query(`BEGIN; DELETE FROM ${names} WHERE domain = 'a.com'`)
  const releasing = store.release('1', ['a.com', 'b.com'])
  await waitUntilLocking(1)
  await other.query('COMMIT')
  other.release()
  expect(toDomains(await releasing)).toEqual(['b.com'])
  expect(await held()).toEqual([])
})

test('returns a connection to the pool even if it was obtained only after the call had timed out', async () => {
  const { database: pool, store } = createStore({ timeLimit: 100 })
  const borrowed = await pool.connect()
  await expect(rejection(save(store, '1', ['a.com']))).resolves.toMatchObject({ name: 'TimeLimitError' })
  borrowed.release()
  await new Promise(resolve => setTimeout(resolve, 10))
  expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0])
})

test('leaves no listeners on the clients of the pool', async () => {
  const { database: pool, store } = createStore()
  const countListeners = async () => {
    const client = await pool.connect()
    client.release()
    return client.listenerCount('error')
  }
  const before = await countListeners()
  await save(store, '1', ['example.com'])
  expect(await countListeners()).toBe(before)
})

test('counts refusals correctly even if the setting extra_float_digits shortens numbers', async () => {
  const synchronize = () => Promise.reject(new Error('refused'))
  const options = { synchronize, onError() {}, synchronizeTimeLimit: 1000 }
  const { store } = createStore(options, { options: '-c extra_float_digits=0' })
  const saved = await save(store, '1', ['example.com'])
  await rejection(Promise.resolve(store.synchronize?.(saved)))
  expect(await store.listPending()).toMatchObject([{ domain: 'example.com', refusals: 1 }])
  await foreign.query('DELETE FROM domain_registration.changes')
})

test('makes all 2,500 failed changes due, at most 1,000 of them in a transaction', async () => {
  const { store } = createStore({ synchronize() {} })
  for (const prefix of ['a', 'b', 'c', 'd', 'e']) await save(store, '1', manyDomains(500, prefix))
  await foreign.query("UPDATE domain_registration.changes SET last_failure = 'refused', refusals = random()::integer")
  expect([await store.retryPending(), await store.retryPending()]).toEqual([2500, 0])
  const { rows } = await foreign.query('SELECT count(*)::integer FROM domain_registration.changes GROUP BY xmin::text')
  expect(rows.map(({ count }) => count).sort()).toEqual([1000, 1000, 500])
  await foreign.query('DELETE FROM domain_registration.changes')
})

test('starts a lease when the registration is saved, even if the call had to wait for a lock', async () => {
  const synchronizeTimeLimit = 1000
  const { store } = createStore({ synchronize() {}, synchronizeTimeLimit })
  await save(store, '1', ['example.com'])
  const saving = await whileLocked(async () => {
    const saving = save(store, '1', ['www.example.com'])
    await waitUntilLocking(1)
    await new Promise(resolve => setTimeout(resolve, 100))
    return [saving]
  })
  const [saved] = await (saving[0] as (typeof saving)[0])
  const change = (await store.listPending()).find(({ domain }) => domain === 'www.example.com')
  const leased = Number(change?.nextAttempt) - Number(saved?.createdAt)
  expect(leased).toBeGreaterThanOrEqual(3 * synchronizeTimeLimit)
  await foreign.query('DELETE FROM domain_registration.changes')
})

test('pushes nothing, and marks nothing as pushed, if it cannot record that there is a monitor', async () => {
  const pushed: string[] = []
  const { store } = createStore({ synchronize: changes => void pushed.push(...toDomains(changes)) })
  const [saved] = await save(store, '1', ['example.com'])
  await foreign.query(`
    DELETE FROM domain_registration.monitor;
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no monitor'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON domain_registration.monitor FOR EACH ROW EXECUTE FUNCTION refuse()`)
  await expect(store.synchronizePending()).rejects.toThrow('no monitor')
  expect(pushed).toEqual([])
  await expect(store.synchronize?.(saved ? [saved] : [])).rejects.toThrow('no monitor')
  expect(toDomains(await store.listPending())).toEqual(['example.com'])
  await foreign.query(`
    DROP TRIGGER refuse ON domain_registration.monitor; DELETE FROM domain_registration.changes`)
})

test('calls that come before a transaction has its lock join it, and find what those before them save', async () => {
  const pool = server.createPool()
  let isLocking = Promise.resolve()
  let transactions = 0
  const query = (text: string, values: unknown[]) => pool.query(text, values)
  const database: PostgresBridge = {
    query,
    async transaction(work) {
      transactions += 1
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work({
          async query(text, values) {
            if (text.includes('AS lock')) await isLocking
            return client.query(text, values)
          },
        })
        await client.query('COMMIT')
        return result
      } finally {
        client.release()
      }
    },
  }
  const store = createPostgresStore({ database, findTeam: id => teams.find(team => team.id === id) ?? null })
  await save(store, '1', ['example.org'])
  let lock = () => {}
  isLocking = new Promise(resolve => {
    lock = resolve
  })
  const first = save(store, '1', ['a.example.com'])
  await waitFor(() => expect(transactions).toBe(2))
  const submitted = ['a.example.com', 'b.example.com'].map(toTestName)
  const second = store.register(
    createRequest('2', submitted, [], ({ registrations }) =>
      submitted.filter(({ domain }) => !toDomains(registrations).includes(domain)),
    ),
  )
  lock()
  expect(toDomains(await first)).toEqual(['a.example.com'])
  const { found, saved } = await second
  expect([found.registrations, saved].map(toDomains)).toEqual([['a.example.com'], ['b.example.com']])
  expect(transactions).toBe(2)
})

test("leaves the settings of the pool's sessions unchanged", async () => {
  const { database: pool, store } = createStore()
  const settings = ['statement_timeout', 'idle_in_transaction_session_timeout', 'enable_seqscan', 'enable_hashjoin']
  const show = async () =>
    (await pool.query('SELECT name, setting FROM pg_settings WHERE name = ANY ($1) ORDER BY name', [settings])).rows
  const before = await show()
  await save(store, '1', ['example.com', '*.example.org'])
  await rejection(
    Promise.resolve(store.register(createRequest('1', [], [], () => [{ domain: 'a', registrableDomain: 'b' }]))),
  )
  expect(await show()).toEqual(before)
  expect(before).toHaveLength(settings.length)
})

describe.each([
  ['with pipelined statements', true],
  ['without pipelining', false],
])('%s, a call', (_, pipeline) => {
  const open = (options: Partial<PostgresStoreOptions> = {}, poolOptions: PoolConfig = {}) =>
    createStore(options, { pipeline, ...poolOptions })

  test('retries a call that PostgreSQL ends because of a deadlock', async () => {
    // A sequence keeps its value when the transaction is rolled back.
    await foreign.query('CREATE SEQUENCE attempts')
    const deadlock = "RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'"
    await sabotage('www', `IF nextval('attempts') = 1 THEN ${deadlock}; END IF`)
    const { store } = open()
    expect(toDomains(await save(store, '1', ['a.com', 'www.m.com']))).toEqual(['a.com', 'www.m.com'])
    expect((await foreign.query('SELECT last_value FROM attempts')).rows).toEqual([{ last_value: '2' }])
    await foreign.query('DROP SEQUENCE attempts CASCADE')
  })

  test('retries a call whose statement somebody cancels while there is time', async () => {
    await foreign.query('CREATE SEQUENCE attempts')
    await sabotage(
      'www',
      "IF nextval('attempts') = 1 THEN PERFORM pg_sleep(0.1), pg_cancel_backend(pg_backend_pid()), pg_sleep(1); END IF",
    )
    const { store } = open()
    expect(toDomains(await save(store, '1', ['a.com', 'www.m.com']))).toEqual(['a.com', 'www.m.com'])
    expect((await foreign.query('SELECT last_value FROM attempts')).rows).toEqual([{ last_value: '2' }])
    await foreign.query('DROP SEQUENCE attempts CASCADE')
  })

  test('rejects a call because of a lock timeout if another program holds the lock', async () => {
    const { store } = open({ timeLimit: 500 }, { options: '-c lock_timeout=50ms' })
    await save(store, '1', ['example.com'])
    const failure = await whileLocked(() => rejection(save(store, '1', ['www.example.com', 'example.org'])))
    // If the answer to the last attempt is late, the call times out, because of the earlier lock timeout.
    const reason = failure instanceof TimeLimitError ? failure.cause : failure
    expect(reason).toMatchObject({ code: '55P03', message: expect.stringContaining('lock timeout') })
    expect(await held()).toEqual([{ domain: 'example.com' }])
    expect(await save(store, '1', ['www.example.com'])).toHaveLength(1)
  })

  test('goes again on the same connection after a lock timeout', async () => {
    const { database: pool, store } = open({ timeLimit: 10_000 })
    await save(store, '1', ['example.com'])
    let connections = 0
    pool.on('connect', () => (connections += 1))
    const before = countLockTimeouts()
    const [saving] = await whileLocked(async () => {
      const saving = save(store, '1', ['www.example.com', 'example.org'])
      await waitFor(() => expect(countLockTimeouts()).toBeGreaterThan(before + 1))
      return [saving]
    })
    expect(await saving).toHaveLength(2)
    expect(connections).toBe(0)
  })

  test('rejects a call if a trigger skips one of its rows, and saves none of them', async () => {
    await sabotage('skipped', 'RETURN NULL')
    const { store } = open()
    expect(await rejection(save(store, '1', ['example.com', 'skipped.example.com']))).toMatchObject({
      message: expect.stringContaining('A trigger skipped 1 of the rows, so nothing was saved'),
    })
    expect(await held()).toEqual([])
  })

  test('rejects a call if row-level security would hide rows from it', async () => {
    const { store } = open()
    await save(store, '1', ['example.com'])
    await foreign.query(`
      DROP ROLE IF EXISTS blinkered; CREATE ROLE blinkered LOGIN PASSWORD 'blinkered';
      GRANT USAGE ON SCHEMA domain_registration TO blinkered;
      GRANT ALL ON ALL TABLES IN SCHEMA domain_registration TO blinkered;
      ALTER TABLE ${names} ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON ${names} USING (team_id = '2')`)
    const { store: hidden } = open({}, { user: 'blinkered', password: 'blinkered' })
    expect(await rejection(save(hidden, '2', ['*.example.com']))).toMatchObject({ code: '42501' })
    await foreign.query(`
      DROP POLICY own ON ${names}; ALTER TABLE ${names} DISABLE ROW LEVEL SECURITY;
      DROP OWNED BY blinkered; DROP ROLE blinkered`)
  })

  test.each([
    ['a row', 'TRIGGER'],
    ['the commit', 'CONSTRAINT TRIGGER'],
  ])('rejects a call if the database rejects %s; nothing is saved, and the connection is reused', async (_, kind) => {
    await sabotage('poison', "RAISE EXCEPTION 'poisoned' USING ERRCODE = 'DR001'", kind)
    const { database: pool, store } = open()
    const names = ['example.com', 'poison.example.com', 'example.org']
    await expect(rejection(save(store, '1', names))).resolves.toMatchObject({ code: 'DR001' })
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
    expect(await held()).toEqual([])
    expect(toDomains(await save(store, '1', ['example.com']))).toEqual(['example.com'])
  })

  test.each([
    ['its prepared statements were deallocated', 'SELECT', 'DEALLOCATE ALL'],
    ['its connection already has a different one under the same name', 'PREPARE find_value AS SELECT 2', 'SELECT'],
    ['a column type has changed since then', 'SELECT', 'ALTER TABLE changing ALTER COLUMN value TYPE text'],
  ])('succeeds with a prepared statement if %s', async (_, before, between) => {
    await foreign.query('DROP TABLE IF EXISTS changing; CREATE TABLE changing (value integer)')
    const { database: pool } = open()
    const database = toDatabase({ database: pool }, 'store')
    const settings = { transaction_isolation: 'read committed' }
    const read = () =>
      database.transact(createDeadline(5000), settings, ({ send }) =>
        send({ name: 'find_value', text: 'SELECT value FROM changing' }),
      )
    await pool.query(before)
    expect(await read()).toEqual([])
    await pool.query(between)
    expect(await read()).toEqual([])
  })

  test('loses its locks and saves nothing if its process freezes while it holds the locks', async () => {
    const other = open().store
    await save(other, '1', ['example.com'])
    const { store } = open({ timeLimit: 300 })
    const freeze = () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900)
      return [toTestName('www.example.com')]
    }
    const freezing = store.register(createRequest('1', [toTestName('www.example.com')], [], freeze))
    await expect(rejection(Promise.resolve(freezing))).resolves.toBeInstanceOf(Error)
    expect(toDomains((await lookUp(other, '1', ['example.com', 'www.example.com'])).registrations)).toEqual([
      'example.com',
    ])
  })
})
