import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { bridgeKysely } from '../../examples/bridge-kysely.ts'
import { postgres as postgresEngine } from '../../src/postgres/engines/plain.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresDriver,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import { toTables } from '../../src/postgres/schema.ts'
import { isOurs } from '../../src/postgres/statements/sql.ts'
import { createStatements } from '../../src/postgres/statements/store.ts'
import { createRequest, save, toDomains, toTestName } from '../../src/testing/calls.ts'
import { rejection, teams } from '../fixtures.ts'
import { startProgram } from '../start-program.ts'
import { waitFor } from '../wait-for.ts'
import { openDatabase, type TestServer } from './server.ts'

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
const hash = 'a'.repeat(64)
const record = { hash, type: 'team', ownerId: '1', scopes: ['domains:create'] } as const
const MOST = 5

let server: TestServer
/** A program that has its own connections. */
let foreign: Pool
beforeAll(async () => {
  server = await openDatabase()
  foreign = server.createPool({ application_name: 'foreign' })
  await migrate({ database: foreign })
  await foreign.query('CREATE TABLE orders (id integer)')
})
beforeEach(async () => {
  for (const table of ['names', 'changes', 'keys', 'locks', 'monitor'])
    await foreign.query(`DELETE FROM domain_registration.${table}`)
  await foreign.query('DELETE FROM orders')
})
afterAll(() => server.stop())

function createPool(pipeline: boolean): Pool {
  const pool = server.createPool({ max: MOST, pipeline })
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Each opens a pool of at most {@link MOST} connections. */
const drivers: readonly (readonly [string, () => PostgresDriver])[] = [
  ['pg with pipelining', () => createPool(true)],
  ['pg without pipelining', () => createPool(false)],
  ['Kysely', () => bridgeKysely(new Kysely({ dialect: new PostgresDialect({ pool: createPool(false) }) }))],
  [
    'postgres.js',
    () => {
      const { host, port, user, password, database } = server.config
      const sql = postgres({
        host,
        port,
        user,
        password,
        database,
        max: MOST,
        onnotice() {},
      } as postgres.Options<never>)
      onTestFinished(() => sql.end({ timeout: 1 }))
      return sql
    },
  ],
]

/** A thread with its own connection, which ends all other connections to the database, except the foreign ones. */
let thread: Worker
const ended = new Int32Array(new SharedArrayBuffer(4))
beforeAll(() => {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    const client = new (require('pg').Client)(workerData.config)
    const connected = client.connect()
    parentPort.on('message', async () => {
      await connected
      await client.query(\`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'foreign'\`)
      Atomics.add(workerData.ended, 0, 1)
      Atomics.notify(workerData.ended, 0)
    })`
  thread = new Worker(program, { eval: true, workerData: { config: server.config, ended } })
})
afterAll(() => thread.terminate())

/** Meanwhile, this thread stands still, so its pool learns of it only when it uses the connections. */
function endConnections(): void {
  const before = ended[0] as number
  thread.postMessage('end')
  Atomics.wait(ended, 0, before)
}

describe.each(drivers)('%s: if all connections have died while they were idle,', (_, open) => {
  async function openIdle() {
    const database = open()
    const store = createPostgresStore({ database, findTeam })
    const keys = createPostgresKeyStore({ database })
    await keys.addKey(record)
    await Promise.all(Array.from({ length: 3 * MOST }, (_, index) => save(store, '1', [`warm-${index}.com`])))
    endConnections()
    return { store, keys }
  }

  test('a call of one name succeeds', async () => {
    const { store } = await openIdle()
    expect(await save(store, '1', ['www.example.com'])).toHaveLength(1)
  })

  test('a key is found', async () => {
    const { keys } = await openIdle()
    expect(await keys.findKey(hash)).toMatchObject({ ownerId: '1' })
  })

  test('a key is never added twice', async () => {
    const { keys } = await openIdle()
    const other = { ...record, hash: 'b'.repeat(64) }
    const isAdded = await keys.addKey(other).catch(() => 'failed')
    expect([true, 'failed']).toContain(isAdded)
    expect(await keys.findKey(other.hash)).toEqual(isAdded === true ? expect.anything() : null)
  })
})

describe.each([
  ['pg with pipelining', true],
  ['pg without pipelining', false],
])('%s: if the application has given back a connection inside a transaction,', (_, pipeline) => {
  async function openForgotten() {
    const database = server.createPool({ max: 1, pipeline })
    const keys = createPostgresKeyStore({ database })
    const store = createPostgresStore({ database, findTeam })
    await keys.addKey(record)
    const client = await database.connect()
    await client.query('BEGIN')
    await client.query('INSERT INTO orders VALUES (1)')
    client.release()
    return { keys, store }
  }

  const calls: readonly [string, (open: Awaited<ReturnType<typeof openForgotten>>) => unknown][] = [
    ['revokeKey', ({ keys }) => keys.revokeKey(hash)],
    ['addKey', ({ keys }) => keys.addKey({ ...record, hash: 'b'.repeat(64) })],
    ['register', ({ store }) => save(store, '1', ['www.example.com'])],
  ]
  test.each(calls)('`%s` lasts, and does not commit that transaction', async (_, call) => {
    const opened = await openForgotten()
    await call(opened)
    const count = async (from: string) => (await foreign.query(`SELECT count(*)::integer FROM ${from}`)).rows[0].count
    const lasting = ['names', 'keys WHERE revoked_at IS NOT NULL', `keys WHERE hash <> '${hash}'`]
    const counts = await Promise.all(lasting.map(from => count(`domain_registration.${from}`)))
    expect(counts.reduce((sum, one) => sum + one)).toBe(1)
    expect(await count('orders')).toBe(0)
  })
})

/** A driver that rolls back, because of a time limit of its own, just before it sends a certain statement. */
function createHasty(isLate: (text: string) => boolean): PostgresBridge {
  return {
    query: (text, values) => foreign.query(text, values),
    async transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
      const client = await foreign.connect()
      let isOver = false
      try {
        await client.query('BEGIN')
        await work({
          async query(text, values) {
            if (isOver) throw new Error('The transaction is over')
            isOver = isLate(text)
            if (isOver) await client.query('ROLLBACK')
            return client.query(text, values)
          },
        })
        throw new Error('The transaction is over')
      } finally {
        if (!isOver) await client.query('ROLLBACK')
        client.release()
      }
    },
  }
}

test.each([
  ['registration', /INSERT INTO .*\.names/],
  ['change', /INSERT INTO .*\.changes/],
  ['deletion', /DELETE FROM .*\.names/],
  ['deletion of a pending change', /DELETE FROM .*\.changes/],
  ['transfer', /UPDATE .*\.names/],
])('a %s that a driver sends after the ROLLBACK does nothing', async (_, pattern) => {
  const read = async () => ({
    names: (await foreign.query('SELECT * FROM domain_registration.names')).rows,
    changes: (await foreign.query('SELECT domain_id, kind FROM domain_registration.changes')).rows,
  })
  const options = { findTeam, synchronize: () => Promise.reject(new Error('unavailable')), onError() {} }
  await save(createPostgresStore({ database: foreign, ...options }), '1', ['held.com'])
  const before = await read()
  expect(before).toMatchObject({ names: [{ domain: 'held.com' }], changes: [{ kind: 'registered' }] })
  let isSent = false
  const isLate = (text: string) => {
    const isIt = pattern.test(text)
    isSent ||= isIt
    return isIt
  }
  const store = createPostgresStore({ database: createHasty(isLate), ...options })
  for (const call of [
    () => save(store, '1', ['www.example.com']),
    async () => store.release('1', ['held.com']),
    async () => store.transfer?.({ from: '1', to: '2', domains: ['held.com'], needsCount: false, decide: () => true }),
  ])
    await rejection(Promise.resolve(call()))
  expect(isSent).toBe(true)
  expect(await read()).toEqual(before)
})

test('every change knows its transaction, or does no harm alone', () => {
  const statements = Object.entries(createStatements(toTables({}), postgresEngine))
    .map(([name, statement]) => [name, typeof statement === 'function' ? statement(null, [])[0] : statement] as const)
    .filter(([, { text }]) => /(?:INSERT INTO|UPDATE|DELETE FROM) "/.test(text))
  const unguarded = statements.filter(([, { text }]) => !text.includes(isOurs)).map(([name]) => name)
  expect(unguarded.sort()).toEqual(['addMonitor', 'hasten'])
})

test.each(drivers)('%s: a call that saves nothing leaves no lock rows', async (_, open) => {
  const store = createPostgresStore({ database: open(), findTeam })
  const { found } = await store.register(createRequest('1', [toTestName('www.example.com')], [], () => []))
  expect(found.registrations).toEqual([])
  expect((await foreign.query('SELECT FROM domain_registration.locks')).rowCount).toBe(0)
  expect(toDomains(await store.list())).toEqual([])
})

/** Whether a process is stopped: the state after the name in `/proc`, as in `ps`. */
const isFrozen = (pid: number) => / T \d/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

test.runIf(process.platform === 'linux')(
  'a call whose process is frozen while it saves pushes nothing, because the name may have been released meanwhile',
  async () => {
    const program = await startProgram(new URL('freezing-process.ts', import.meta.url), JSON.stringify(server.config))
    onTestFinished(() => program.kill())
    const answered = program.receive()
    await waitFor(() => expect(isFrozen(program.pid)).toBe(true))

    const accepted: string[] = []
    const store = createPostgresStore({
      database: foreign,
      findTeam,
      synchronize: changes => void accepted.push(...changes.map(({ kind }) => kind)),
      synchronizeTimeLimit: 200,
    })
    expect(await store.release('1', ['example.com'])).toHaveLength(1)
    // The release is due when the lease of the frozen call has ended.
    await waitFor(async () => {
      await store.synchronizePending()
      expect(accepted).toEqual(['released'])
    })
    process.kill(program.pid, 'SIGCONT')
    expect(await answered).toEqual({ outcome: 'domain_registration_unavailable', pushed: [] })
  },
)
