import { PGlite } from '@electric-sql/pglite'
import { Kysely, ParseJSONResultsPlugin, PostgresDialect } from 'kysely'
import { Client, type Pool, types } from 'pg'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { bridgeKysely } from '../../examples/bridge-kysely.ts'
import type { PostgresAnswer, PostgresStatement } from '../../src/postgres/drivers/database.ts'
import { toDatabase } from '../../src/postgres/drivers/driver-options.ts'
import { hasCode } from '../../src/postgres/drivers/failures.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  type DriverOptions,
  migrate,
  type PostgresBridge,
  type PostgresDriver,
} from '../../src/postgres/index.ts'
import { createRequest, save } from '../../src/testing/calls.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { counts, isLong, sample } from '../counts.ts'
import { rejection } from '../fixtures.ts'
import { createFaultyNetwork, cutAfter, onlyOnce } from './faulty-network.ts'
import { openDatabase, type TestServer } from './server.ts'
import { describeKeyStore, describeStore } from './suites.ts'

const settings = { transaction_isolation: 'read committed', lock_timeout: '0' }

let server: TestServer
let pool: Pool
let sql: Sql
let pglite: PGlite | undefined
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool()
  // Kysely does not add an error listener to the clients of a pool: see docs/postgres.md.
  pool.on('connect', client => client.on('error', () => {}))
  sql = postgres({ ...connection(), fetch_types: false })
})
afterAll(async () => {
  // Without this time limit, `end` would wait forever for a connection that the server has ended.
  await sql.end({ timeout: 1 })
  await pglite?.close()
  await server.stop()
})

function connection(): postgres.Options<never> {
  const { host, port, user, password, database } = server.config
  return { host, port, user, password, database, onnotice() {} } as postgres.Options<never>
}

const overKysely = (through: Pool) =>
  bridgeKysely(new Kysely({ dialect: new PostgresDialect({ pool: through }), plugins: [new ParseJSONResultsPlugin()] }))

const drivers: readonly (readonly [string, () => PostgresDriver])[] = [
  ['postgres.js', () => sql],
  ['Kysely with plugins', () => overKysely(pool)],
]
/** How the parsers of an application may return the values of any type. A driver calls them for each value. */
const parsers: readonly (readonly [string, (type: number) => (text: string) => unknown])[] = [
  ['raw values', () => text => text],
  ['booleans as text', type => text => (type === BOOL ? (text === 't' ? 'yes' : 'no') : parse(type, text))],
  ['BigInts', type => text => (INTEGERS.has(type) ? BigInt(text) : parse(type, text))],
]
const { BOOL, INT2, INT4, INT8 } = types.builtins
const INTEGERS = new Set<number>([INT2, INT4, INT8])
const parse = (type: number, text: string): unknown => types.getTypeParser(type as never)(text)

const suites: readonly (readonly [string, () => PostgresDriver, Pick<DriverOptions, 'preparedStatements'>?])[] = [
  ...drivers,
  ['PGlite', () => (pglite ??= new PGlite())],
  ...parsers.map(([name, getTypeParser]) => {
    const options = { types: { getTypeParser } as never, options: '-c array_nulls=off' }
    return [`pg with parsers that return ${name}`, () => server.createPool(options)] as const
  }),
  ['postgres.js, without prepared statements', () => sql, { preparedStatements: false }],
]
// A short run uses two or three of them; the seed decides which.
for (const [name, open, options] of sample(suites, isLong ? suites.length : 3)) {
  describeStore(name, open, options, counts.casesOfDrivers)
  describeKeyStore(name, open, options)
}

describe.each([...drivers, ['pg', () => pool] as const])('%s:', (_, open) => {
  test('the error for missing tables says how to create them', async () => {
    const store = createPostgresStore({ database: open(), schema: 'absent', findTeam: () => null })
    const keys = createPostgresKeyStore({ database: open(), schema: 'absent' })
    const expected = { message: expect.stringContaining('run migrate()'), code: '42P01', cause: expect.anything() }
    expect(await rejection(save(store, '1', ['example.com']))).toMatchObject(expected)
    expect(await rejection(Promise.resolve(keys.findKey('a'.repeat(64))))).toMatchObject(expected)
  })

  test('a call rejects with the cause if a statement fails, and saves nothing', async () => {
    await pool.query('DROP TABLE IF EXISTS halves; CREATE TABLE halves (value integer CHECK (value < 2))')
    const insert = { name: 'insert_half', text: 'INSERT INTO halves VALUES ($1)' }
    const running = toDatabase({ database: open() }, 'store').transact(
      createDeadline(5000),
      settings,
      async ({ write }) => {
        for (const value of [1, 2, 3]) void write(insert, value)
      },
    )
    expect(hasCode(await rejection(running), new Set(['23514']))).toBe(true)
    expect((await pool.query('SELECT FROM halves')).rowCount).toBe(0)
  })
})

test('postgres.js: a call that times out does not affect the next call on its connection', async () => {
  const one = postgres({ ...connection(), max: 1 })
  await migrate({ database: one })
  const store = createPostgresStore({ database: one, findTeam: () => null })
  const decide = () => {
    // Blocks the process until the server has ended the transaction.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    return []
  }
  const late = async () => store.register({ ...createRequest('1', [], [], decide), timeLimit: 100 })
  expect(await rejection(late())).toMatchObject({ name: 'TimeLimitError' })
  expect(await save(store, '1', ['late.example.com'])).toHaveLength(1)
  await one.end({ timeout: 1 })
})

// PgBouncer before version 1.21 may lose a statement that is pipelined behind one outside a transaction.
test('postgres.js: nothing is pipelined behind a statement outside a transaction: each has a parameter', async () => {
  await migrate({ database: sql })
  const outside: (readonly [text: string, values: number | undefined])[] = []
  const database = {
    begin: sql.begin.bind(sql),
    unsafe(text: string, values?: never[], options?: { prepare?: boolean }) {
      outside.push([text, values?.length])
      return sql.unsafe(text, values, options)
    },
  } as Sql
  const store = createPostgresStore({ database, findTeam: () => null, preparedStatements: false })
  const keys = createPostgresKeyStore({ database, preparedStatements: false })
  expect(await keys.findKey('a'.repeat(64))).toBeNull()
  expect(await save(store, '1', ['pipelined.example.com'])).toHaveLength(1)
  await store.list()
  expect(outside.length).toBeGreaterThan(4)
  expect(outside.filter(([, values]) => !values)).toEqual([])
})

test('postgres.js: if the connection ends during a call, the call fails, but the process continues', async () => {
  const network = await createFaultyNetwork({ host: '127.0.0.1', port: server.config.port as number })
  async function registerOnce(domain: string): Promise<unknown> {
    const one = postgres({ ...connection(), port: network.port, max: 1 })
    const store = createPostgresStore({ database: one, findTeam: () => null })
    const fate = await save(store, '1', [domain]).then(
      () => 'answered',
      error => error.code,
    )
    await one.end({ timeout: 0 })
    return fate
  }
  const fates = new Set([await registerOnce('whole.example.com')])
  const length = network.carried.server
  for (let index = 0; index < counts.cuts; index += 1) {
    network.suffer(onlyOnce(cutAfter(Math.floor(((length - 1) * (index + 1)) / counts.cuts), 'server')))
    fates.add(await registerOnce(`cut-${index}.example.com`))
  }
  expect([...fates]).toEqual(['answered', 'CONNECTION_CLOSED'])
  await network.goDown()
})

test.each([
  ['Kysely', overKysely],
  ['pg', (through: Pool) => through],
])('%s: transactions use READ COMMITTED, even if the default is another isolation level', async (_, open) => {
  const strict = server.createPool({ options: '-c default_transaction_isolation=serializable' })
  const level = { name: 'isolation', text: "SELECT current_setting('transaction_isolation') AS level" }
  const database = toDatabase({ database: open(strict) }, 'store')
  const rows = await database.transact(createDeadline(5000), settings, ({ send }) => send(level))
  expect(rows).toEqual([{ level: 'read committed' }])
})

test('a single pg connection is rejected at start-up, and the error says what to pass instead', async () => {
  const client = new Client(server.config)
  const lent = await pool.connect()
  for (const connection of [client, lent] as never[]) {
    const refusal = /"database" must be a pool of pg, but is a single connection/
    expect(() => createPostgresStore({ database: connection, findTeam: () => null })).toThrow(refusal)
    expect(() => createPostgresKeyStore({ database: connection })).toThrow(refusal)
    await expect(migrate({ database: connection })).rejects.toThrow(refusal)
  }
  lent.release()
})

describe('pg: a transaction that fails', () => {
  const failing = { name: '', text: 'failing' }

  /** A database with one client. `rollBack` returns the response to `ROLLBACK`. */
  function connect(rollBack: () => Promise<PostgresAnswer>) {
    const sent: string[] = []
    const released: unknown[] = []
    const client = {
      pipeline: true,
      async query({ text }: PostgresStatement): Promise<PostgresAnswer> {
        sent.push(text)
        if (text === failing.text) throw new Error('failed')
        return text === 'ROLLBACK' ? rollBack() : { rows: [] }
      },
      release: (error?: Error) => released.push(error),
      on() {},
      removeListener() {},
    }
    const pool = { connect: (callback: (error: undefined, lent: typeof client) => void) => callback(undefined, client) }
    return { sent, released, database: toDatabase({ database: pool as PostgresDriver }, 'store') }
  }

  test('sends nothing afterwards, because another transaction may be using its connection', async () => {
    const { sent, released, database } = connect(async () => ({ rows: [] }))
    let sendLate = async () => {}
    const running = database.transact(createDeadline(5000), {}, async ({ send, write }) => {
      sendLate = async () => void (await write({ name: '', text: 'late' }))
      await send(failing)
    })
    await expect(running).rejects.toThrow('failed')
    await rejection(sendLate())
    expect(sent).toEqual([expect.stringMatching(/^BEGIN; /), 'failing', 'ROLLBACK'])
    expect(released).toEqual([undefined])
  })

  test('sends no more statements if its process was busy beyond the time limit', async () => {
    const { sent, released, database } = connect(async () => ({ rows: [] }))
    const running = database.transact(createDeadline(200), {}, async ({ write }) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 210)
      await write({ name: '', text: 'late' })
    })
    expect(await rejection(running)).toMatchObject({ name: 'TimeLimitError' })
    expect(sent).toEqual([expect.stringMatching(/^BEGIN; /)])
    expect(released).toEqual([expect.any(Error)])
  })

  test('closes its connection if the server does not respond to the ROLLBACK within a second', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { released, database } = connect(() => new Promise(() => {}))
    const running = rejection(database.transact(createDeadline(5000), {}, ({ send }) => send(failing)))
    await vi.advanceTimersByTimeAsync(1000)
    expect(released).toEqual([expect.objectContaining({ message: 'failed' })])
    expect(await running).toMatchObject({ message: 'failed' })
  })
})

test('a bridge does not commit a transaction whose last response arrives after the time limit', async () => {
  const last = { name: '', text: 'last' }
  let isCommitted = false
  const bridge: PostgresBridge = {
    query: async () => ({ rows: [] }),
    async transaction(work) {
      const result = await work({
        async query(text) {
          if (text === last.text) await new Promise(resolve => setTimeout(resolve, 100))
          return { rows: [] }
        },
      })
      isCommitted = true
      return result
    },
  }
  const running = toDatabase({ database: bridge }, 'store').transact(createDeadline(50), settings, ({ write }) =>
    write(last),
  )
  expect(await rejection(running)).toMatchObject({ name: 'TimeLimitError' })
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(isCommitted).toBe(false)
})

test('a bridge whose first statement is never answered works in the next call', async () => {
  let isDead = true
  const bridge: PostgresBridge = {
    async query(text, values) {
      if (!isDead) return pool.query(text, values)
      isDead = false
      return new Promise(() => {})
    },
    transaction: () => Promise.reject(new Error('Not used')),
  }
  const database = toDatabase({ database: bridge }, 'store')
  const send = (milliseconds: number) =>
    database.send(createDeadline(milliseconds), { name: '', text: 'SELECT 1 AS one' })
  expect(await rejection(send(20))).toMatchObject({ name: 'TimeLimitError' })
  expect(await send(5000)).toEqual([{ one: 1 }])
})
