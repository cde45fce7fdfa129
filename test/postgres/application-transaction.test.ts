import type { Pool, PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { importDomains } from '../../src/operations/import-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import { toDatabase } from '../../src/postgres/drivers/driver-options.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresStoreOptions,
} from '../../src/postgres/index.ts'
import { SCHEMA_VERSION } from '../../src/postgres/schema.ts'
import type { Change } from '../../src/rules/registration.ts'
import { createUuidGenerator } from '../../src/runtime/uuid.ts'
import { createRequest, manyDomains, save, toDomains, toTestName } from '../../src/testing/calls.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'
import { createDeadline, TimeLimitError } from '../../src/time/deadline.ts'
import { counts, sample } from '../counts.ts'
import { rejection, team1, team2, teams } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'
import { openDatabase, type TestServer } from './server.ts'

const table = 'domain_registration.names'
const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

let server: TestServer
let pool: Pool
/** The client of the application's transaction. */
let client: PoolClient
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '50ms' })
  pool = server.createPool()
  await migrate({ database: pool })
})
beforeEach(async () => {
  await pool.query(`DELETE FROM ${table}; DELETE FROM domain_registration.changes`)
  client = await pool.connect()
})
afterEach(async () => {
  await client.query('ROLLBACK')
  client.release()
})
afterAll(() => server.stop())

async function begin(options: Partial<PostgresStoreOptions> = {}, command = 'BEGIN') {
  await client.query(command)
  const query = (text: string, values: unknown[]) => client.query(text, values)
  return createPostgresStore({ database: { query }, findTeam, ...options })
}

const held = async () =>
  (await pool.query('SELECT domain FROM domain_registration.names ORDER BY domain')).rows.map(row => row.domain)

const poison = `
  CREATE OR REPLACE FUNCTION saboteur() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.registrable_domain = 'poison.com' THEN RAISE EXCEPTION 'poisoned'; END IF; RETURN NEW; END $$;
  CREATE TRIGGER saboteur BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION saboteur()`

describe("a store in the application's transaction", () => {
  const cases = domainStoreSuite({
    async createStore({ teams, synchronize }) {
      await client.query('ROLLBACK')
      const { synchronizePending, ...store } = await begin({
        findTeam: id => teams.find(team => team.id === id) ?? null,
        synchronize,
      })
      return store
    },
    features: [
      'isInTransaction',
      'import',
      ...managedStoreFeatures.filter(feature => feature !== 'synchronize' && feature !== 'synchronizePending'),
    ],
    timeLimit: 20_000,
  })
  const chosen = new Set(sample(cases, counts.casesOfDrivers))
  for (const each of cases) if (chosen.has(each) || each.id === 'later-is-not-now') test(each.name, each.run)
})

test("a store in the application's transaction pushes nothing, and its synchronizePending rejects", async () => {
  const store = await begin({ synchronize() {} })
  expect([store.synchronize, store.isInTransaction]).toEqual([undefined, true])
  await expect(store.synchronizePending()).rejects.toThrow('sweep with a store on a pool')
})

test('in a transaction that has already failed, a call for 100 names fails after at most 10 statements', async () => {
  await client.query('BEGIN')
  await expect(client.query('SELECT 1 / 0')).rejects.toThrow('division by zero')
  let sent = 0
  const query = (text: string, values: unknown[]) => {
    sent += 1
    return client.query(text, values)
  }
  const store = createPostgresStore({ database: { query }, findTeam })
  const calling = registerDomains(team1, { domains: manyDomains(100) }, store)
  await expect(calling).rejects.toMatchObject({ status: 500, cause: { code: '25P02' } })
  // Each attempt sent one statement, regardless of the number of names.
  expect(sent).toBeLessThanOrEqual(10)
})

test('a release through a store without a monitor is pushed by the next sweep of a store with one', async () => {
  const pushed: string[] = []
  const synchronize = (changes: readonly Change[]) => void pushed.push(...changes.map(({ kind }) => kind))
  const serving = createPostgresStore({ database: pool, findTeam, synchronize })
  await serving.synchronize?.(await save(serving, '1', ['example.com']))
  const store = await begin()
  await store.release('1', ['example.com'])
  await client.query('COMMIT')
  await serving.synchronizePending()
  expect(pushed).toEqual(['registered', 'released'])
})

test("a pending change is not locked by a call in the application's transaction that names it again", async () => {
  const serving = createPostgresStore({ database: pool, findTeam, synchronize() {} })
  await save(serving, '1', ['a.com'])
  const store = await begin({ synchronize() {} })
  expect((await registerDomains(team1, { domains: ['a.com'] }, store)).data.totals).toMatchObject({ existing: 1 })
  const { rowCount } = await pool.query('SELECT FROM domain_registration.changes FOR UPDATE NOWAIT')
  expect(rowCount).toBe(1)
})

describe('while a call in an open transaction holds its locks,', () => {
  const waitUntilLocking = () =>
    waitFor(async () => {
      const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      expect((await pool.query(waiting)).rowCount).toBe(1)
    })

  test('a release of the same name waits for the commit, and then succeeds', async () => {
    const serving = createPostgresStore({ database: pool, findTeam })
    await save(serving, '1', ['a.com'])
    await save(await begin(), '1', ['b.com'])
    const releasing = serving.release('1', ['a.com', 'b.com'])
    await waitUntilLocking()
    await client.query('COMMIT')
    expect(toDomains(await releasing).sort()).toEqual(['a.com', 'b.com'])
  })

  test('another import with the same ID waits for the commit, and is then rejected', async () => {
    const serving = createPostgresStore({ database: pool, findTeam })
    const domainId = createUuidGenerator()()
    const row = { domainId, teamId: '1', createdAt: new Date(0), synchronized: true }
    await importDomains(await begin(), [{ ...row, domain: 'a.com' }])
    const importing = importDomains(serving, [{ ...row, domain: 'b.com' }])
    await waitUntilLocking()
    await client.query('COMMIT')
    expect(await importing).toMatchObject({ imported: 0, rejected: [{ domain: 'b.com' }] })
    expect(await held()).toEqual(['a.com'])
  })

  test("a transfer to the call's team waits if the team has a limit, and then counts the call's names", async () => {
    const limited = (id: string) => ({ id, organizationId: '10', state: 'active' as const, maxDomains: 1 })
    const serving = createPostgresStore({ database: pool, findTeam: limited })
    await save(serving, '2', ['b.com'])
    await registerDomains(team1, { domains: ['a.com'] }, await begin({ findTeam: limited }))
    const transferring = rejection(transfer(serving, { from: '2', to: '1', domains: ['b.com'] }))
    await waitUntilLocking()
    // Meanwhile, a call of another team with a limit does not wait.
    const another = rejection(registerDomains(team2, { domains: ['c.com'] }, serving))
    expect(await another).toMatchObject({ code: 'domain_limit_reached' })
    await client.query('COMMIT')
    expect(await transferring).toMatchObject({ code: 'domain_limit_reached' })
    expect(toDomains(await serving.list({ teamId: '2' }))).toEqual(['b.com'])
  })
})

test('if one name of a call cannot be saved, the others are saved, and the transaction stays usable', async () => {
  await pool.query(poison)
  const store = await begin()
  await client.query('CREATE TABLE orders AS SELECT 1 AS number')
  const onError = vi.fn()
  const domains = ['a.com', 'poison.com', 'www.b.com']
  const { data } = await registerDomains(team1, { domains }, store, { onError })
  expect(data.totals).toEqual({ created: 2, existing: 0, invalid: 1 })
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'poisoned' }))
  await client.query('COMMIT')
  expect(await held()).toEqual(['a.com', 'www.b.com'])
  expect((await pool.query('SELECT number FROM orders')).rows).toEqual([{ number: 1 }])
  await pool.query(`DROP TRIGGER saboteur ON ${table}; DROP TABLE orders`)
})

const settings = async () =>
  (await client.query('SELECT name, setting FROM pg_settings ORDER BY name COLLATE "C"')).rows

test('`migrate` leaves the settings of the transaction unchanged', async () => {
  await client.query("BEGIN; SET LOCAL statement_timeout = '7s'; SET LOCAL lock_timeout = '3s'")
  const before = await settings()
  await migrate({ database: { query: (text, values) => client.query(text, values) }, schema: 'within' })
  expect(await settings()).toEqual(before)
  expect((await client.query('SELECT version FROM within.version')).rows).toEqual([{ version: SCHEMA_VERSION }])
})

test('a call leaves the settings of the transaction unchanged, even if it fails', async () => {
  const store = await begin()
  await client.query("SET LOCAL statement_timeout = '7s'")
  const before = await settings()
  await save(store, '1', ['example.com', 'www.example.com'])
  expect(await settings()).toEqual(before)
  const notLocked = createRequest('1', [], [], () => [toTestName('a.com')])
  await expect(rejection(Promise.resolve(store.register(notLocked)))).resolves.toBeInstanceOf(Error)
  expect(await settings()).toEqual(before)
})

test.each(['REPEATABLE READ', 'SERIALIZABLE'])(
  'in a %s transaction, a call is rejected, because it could not see names that other transactions commit',
  async level => {
    const store = await begin({}, `BEGIN ISOLATION LEVEL ${level}`)
    await expect(save(store, '1', ['example.com'])).rejects.toThrow(`must be in READ COMMITTED; it is in ${level}`)
  },
)

test('if findTeam waits in vain for a second connection, the error says to query on the same connection', async () => {
  const one = server.createPool({ max: 1 })
  const transaction = await one.connect()
  await transaction.query('BEGIN')
  const store = createPostgresStore({
    database: { query: (text, values) => transaction.query(text, values) },
    findTeam: async id => (await one.query('SELECT $1 AS id', [id])).rows[0],
  })
  const error = await rejection(registerDomains(team1, { domains: ['a.com'] }, store, { timeLimit: 200 }))
  expect(error).toMatchObject({ status: 500, cause: { message: expect.stringContaining('on the same connection') } })
  await transaction.query('COMMIT')
  transaction.release()
})

test('a statement that the application sends during a call is undone if the call fails', async () => {
  await pool.query(`${poison}; CREATE TABLE orders (number integer)`)
  await client.query('BEGIN')
  const query = (text: string, values: unknown[]) => {
    const answer = client.query(text, values)
    if (text.startsWith('INSERT')) void client.query('INSERT INTO orders VALUES (1)')
    return answer
  }
  const store = createPostgresStore({ database: { query }, findTeam })
  await rejection(save(store, '1', ['poison.com']))
  expect((await client.query('COMMIT')).command).toBe('COMMIT')
  expect((await pool.query('SELECT FROM orders')).rowCount).toBe(0)
  await pool.query(`DROP TRIGGER saboteur ON ${table}; DROP TABLE orders`)
})

test('outside a transaction, a call is rejected and saves nothing', async () => {
  const store = await begin({}, 'SELECT')
  expect(await rejection(save(store, '1', ['example.com']))).toMatchObject({ code: '25P01' })
  expect(await held()).toEqual([])
})

test('simultaneous calls in a transaction take effect in the order in which they were made', async () => {
  const store = await begin()
  const domains = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com']
  const saving = domains.map(domain => save(store, '1', [domain]))
  expect(toDomains(await store.list())).toEqual(domains)
  await Promise.all(saving)
})

test('a second store in a transaction is rejected before its savepoint; the next transaction is free', async () => {
  const sent: string[] = []
  const query = (text: string, values: unknown[]) => {
    sent.push(text)
    return client.query(text, values)
  }
  const open = () => createPostgresStore({ database: { query }, findTeam })
  await client.query('BEGIN')
  const [one, other] = [open(), open()]
  const saving = save(one, '1', ['a.com'])
  const rejected = rejection(save(other, '1', ['b.com']))
  expect(await rejected).toMatchObject({ message: expect.stringContaining('create one store for each transaction') })
  expect(await saving).toHaveLength(1)
  const savepoints = sent.map(text => text.split(' ')[0]).filter(word => word === 'SAVEPOINT' || word === 'RELEASE')
  expect(savepoints.filter((word, index) => word === savepoints[index - 1])).toEqual([])
  expect(await createPostgresKeyStore({ database: { query } }).findKey('a'.repeat(64))).toBe(null)
  await client.query('COMMIT; BEGIN')
  expect(await save(open(), '1', ['c.com'])).toHaveLength(1)
  await client.query('COMMIT')
  expect(await held()).toEqual(['a.com', 'c.com'])
})

test('a statement may take 60 % of the time left, even after a wait for the turn or a slow statement', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await client.query('BEGIN')
  const limits: number[] = []
  function query(text: string, values: unknown[]) {
    if (text.startsWith('INSERT')) vi.advanceTimersByTime(values.includes('{"a.com"}') ? 1000 : 5000)
    if (text.includes("set_config('statement_timeout'")) limits.push(Number(values[0]))
    if (text.startsWith('SET LOCAL statement_timeout')) limits.push(Number(text.split(' = ')[1]))
    return client.query(text, values)
  }
  const store = createPostgresStore({ database: { query }, findTeam, timeLimit: 10_000 })
  await Promise.all([save(store, '1', ['a.com']), save(store, '1', ['b.com'])])
  // The statements of a call may take 90 % of its time. At the end, each call restores the limit of the transaction.
  expect(limits).toEqual([0.9 * 10_000, 0, 0.9 * 9000, 0.9 * 9000 - 5000, 0].map(left => Math.floor(0.6 * left)))
})

test('a call that fails rejects only once its rollback is complete, and sends nothing afterwards', async () => {
  const answered: string[] = []
  await client.query('BEGIN')
  async function query(text: string, values: unknown[]) {
    const answer = await client.query(text, values)
    if (text.startsWith('ROLLBACK')) await new Promise(resolve => setTimeout(resolve, 50))
    answered.push(text.split(' ')[0] as string)
    return answer
  }
  let sendLate: () => Promise<unknown> = async () => {}
  const failing = toDatabase({ database: { query } }, 'store').transact(createDeadline(5000), {}, async ({ write }) => {
    sendLate = () => write({ name: '', text: 'SELECT' })
    throw new Error('nothing is saved')
  })
  await expect(failing).rejects.toThrow('nothing is saved')
  expect(answered.slice(-2)).toEqual(['ROLLBACK', 'RELEASE'])
  const count = answered.length
  await expect(sendLate()).rejects.toThrow(TimeLimitError)
  expect(answered).toHaveLength(count)
})

test.each(['SAVEPOINT', 'ROLLBACK', 'RELEASE'])(
  'a call ends at its time limit, and sends nothing more, even if the connection never responds to %s',
  async command => {
    await client.query('BEGIN')
    let last = ''
    const query = (text: string, values: unknown[]) => {
      last = text
      return text.startsWith(command) ? new Promise<never>(() => {}) : client.query(text, values)
    }
    const store = createPostgresStore({ database: { query }, findTeam, timeLimit: 300 })
    const request = createRequest('1', [], [], () => {
      if (command === 'ROLLBACK') throw new Error('nothing is saved')
      return []
    })
    expect(await rejection(Promise.resolve(store.register(request)))).toMatchObject({
      message: expect.stringMatching(/^No response within .*the time limit of 300 ms$/),
    })
    // While this statement runs, a late statement of the call would be sent.
    await client.query('SELECT pg_sleep(0.05)')
    expect(last.split(' ')[0]).toBe(command)
  },
)

/** Statements that replace the first ROLLBACK or RELEASE of a call. The server cancels or rejects them. */
test.each([
  ['ROLLBACK', 'SELECT pg_sleep(10)', '57014'],
  ['RELEASE', 'SELECT 1 / 0', '22012'],
])(
  'a failed call leaves the transaction usable even if the server cancels or rejects the first %s',
  async (command, statement, code) => {
    await client.query('BEGIN; CREATE TEMPORARY TABLE own (number integer) ON COMMIT DROP')
    const codes: string[] = []
    async function query(text: string, values: unknown[]) {
      if (!text.startsWith(command) || codes.length > 0) return client.query(text, values)
      codes.push('')
      return client.query(statement).catch(error => {
        codes[0] = error.code
        throw error
      })
    }
    const store = createPostgresStore({ database: { query }, findTeam, timeLimit: 2000 })
    const names = [{ domain: 'a.com', registrableDomain: 'a.com' }]
    const request = createRequest('1', names, [], () => {
      if (command === 'ROLLBACK') throw new Error('nothing is saved')
      return names
    })
    expect(await rejection(Promise.resolve(store.register(request)))).toBeInstanceOf(Error)
    expect(codes).toEqual([code])
    await client.query('INSERT INTO own VALUES (1)')
    const { rows } = await client.query("SELECT number, current_setting('statement_timeout') AS limit FROM own")
    expect(rows).toEqual([{ number: 1, limit: '0' }])
    expect((await client.query('COMMIT')).command).toBe('COMMIT')
    expect(await held()).toEqual([])
  },
)

function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

describe('if the driver refuses a statement while another one runs,', () => {
  /** A store in the application's transaction, and how many of its statements the driver has refused. */
  async function beginStrict(timeLimit: number) {
    await client.query('BEGIN')
    let isBusy = false
    const refused: string[] = []
    async function query(text: string, values: unknown[]) {
      if (isBusy) {
        refused.push(text)
        throw new Error('The client is already executing a query')
      }
      isBusy = true
      try {
        return await client.query(text, values)
      } finally {
        isBusy = false
      }
    }
    return { refused, store: createPostgresStore({ database: { query }, findTeam, timeLimit }) }
  }

  test('a call that fails is rolled back, and the transaction stays usable', async () => {
    const { refused, store } = await beginStrict(5000)
    const names = ['a.com', 'a.com'].map(toTestName)
    await expect(rejection(save(store, '1', names))).resolves.toMatchObject({ code: '23505' })
    await save(store, '1', ['b.com'])
    await client.query('COMMIT')
    expect([await held(), refused]).toEqual([['b.com'], []])
  })

  test('a call that times out while it waits for a lock is rolled back', async () => {
    await save(createPostgresStore({ database: pool, findTeam }), '1', ['locked.com'])
    const other = await pool.connect()
    await other.query("BEGIN; SELECT FROM domain_registration.locks WHERE registrable_domain = 'locked.com' FOR UPDATE")
    const { refused, store } = await beginStrict(1000)
    await save(store, '1', ['a.com'])
    await rejection(save(store, '1', ['b.com', 'www.locked.com']))
    await other.query('COMMIT')
    other.release()
    expect((await client.query('COMMIT')).command).toBe('COMMIT')
    expect([await held(), refused]).toEqual([['a.com', 'locked.com'], []])
  })

  test('a call of which each statement is slow is rolled back, so the application commits nothing of it', async () => {
    const { refused, store } = await beginStrict(400)
    await client.query(`CREATE FUNCTION pg_temp.slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.15); RETURN NULL; END $$;
      CREATE TRIGGER slow AFTER INSERT ON ${table} EXECUTE FUNCTION pg_temp.slow();
      CREATE TRIGGER slow AFTER INSERT ON domain_registration.locks EXECUTE FUNCTION pg_temp.slow()`)
    await rejection(save(store, '1', ['slow.com']))
    await client.query('COMMIT')
    await pool.query(`DROP TRIGGER slow ON ${table}; DROP TRIGGER slow ON domain_registration.locks`)
    expect([await held(), refused]).toEqual([[], []])
  })
})

describe('a call that times out', () => {
  /** A store, and the statements that it has sent so far. */
  async function beginWatched(whenSent: (text: string) => void = () => {}, timeLimit?: number) {
    const sent: string[] = []
    await client.query('BEGIN')
    const query = (text: string, values: unknown[]) => {
      sent.push(text)
      const answer = client.query(text, values)
      whenSent(text)
      return answer
    }
    return { sent, store: createPostgresStore({ database: { query }, findTeam, timeLimit }) }
  }

  test('sends no more statements if it was waiting for a lock, and the transaction stays usable', async () => {
    await save(createPostgresStore({ database: pool, findTeam }), '1', ['locked.com'])
    const { sent, store } = await beginWatched()
    const other = await pool.connect()
    await other.query("BEGIN; SELECT FROM domain_registration.locks WHERE registrable_domain = 'locked.com' FOR UPDATE")
    const domains = ['a.com', 'b.com', 'c.com', 'www.locked.com']
    const { data } = await registerDomains(team1, { domains }, store, { timeLimit: 2000 })
    const [count, created] = [sent.length, data.results.flatMap(result => ('domain' in result ? result.domain : []))]
    await other.query('COMMIT')
    other.release()
    expect((await client.query('COMMIT')).command).toBe('COMMIT')
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(sent).toHaveLength(count)
    expect(await held()).toEqual([...created, 'locked.com'].sort())
    expect(data.results[3]).toMatchObject({ code: 'internal_error' })
  })

  test.each(['INSERT', 'SELECT current_setting', 'RELEASE'])(
    'sends nothing once the transaction has ended, even if its process froze after a statement (%s)',
    async word => {
      const { sent, store } = await beginWatched(text => text.startsWith(word) && standStill(700))
      const answer = registerDomains(team1, { domains: ['www.frozen.com'] }, store, { timeLimit: 1000 })
      const failed = await answer.then(
        ({ data }) => data.totals.created === 0,
        () => true,
      )
      const count = sent.length
      await client.query('COMMIT')
      await new Promise(resolve => setTimeout(resolve, 100))
      expect(sent.length, sent.slice(count).join('\n')).toBe(count)
      // Each registration must be saved completely, or not at all.
      const { rows } = await pool.query('SELECT FROM domain_registration.locks WHERE registrable_domain = $1', [
        'frozen.com',
      ])
      const domains = await held()
      if (!failed) expect(domains).toEqual(['www.frozen.com'])
      expect(rows).toHaveLength(domains.length)
      await pool.query('DELETE FROM domain_registration.locks')
    },
  )

  test('has time to roll back even if it was waiting for a lock: the server cancels the statement', async () => {
    await save(createPostgresStore({ database: pool, findTeam }), '1', ['locked.com'])
    const { store } = await beginWatched(() => {}, 2000)
    const other = await pool.connect()
    await other.query("BEGIN; SELECT FROM domain_registration.locks WHERE registrable_domain = 'locked.com' FOR UPDATE")
    const error = await rejection(save(store, '1', ['www.locked.com']))
    await other.query('COMMIT')
    other.release()
    // The server ends the statement after 1080 ms. The lock_timeout would end it with 55P03 after 1620 ms.
    expect(error).toMatchObject({ code: '57014' })
  })

  test('saves nothing if the network became slow, and the next call succeeds', async () => {
    let isLate = false
    await client.query('BEGIN')
    const query = async (text: string, values: unknown[]) => {
      const answer = await client.query(text, values)
      if (text.includes('INSERT')) await waitFor(() => expect(isLate).toBe(true))
      return answer
    }
    const store = createPostgresStore({ database: { query }, findTeam })
    const name = toTestName('example.com')
    const slow = async () => store.register({ ...createRequest('1', [name], [], () => [name]), timeLimit: 300 })
    await expect(rejection(slow())).resolves.toMatchObject({ name: 'TimeLimitError' })
    isLate = true
    await save(store, '1', ['example.org'])
    await client.query('COMMIT')
    expect(await held()).toEqual(['example.org'])
  })
})
