import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { toDatabase } from '../../src/postgres/connection.ts'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import { createOutbox } from '../../src/postgres/outbox.ts'
import { toTables } from '../../src/postgres/schema.ts'
import { createStatements } from '../../src/postgres/statements.ts'
import { createTransact } from '../../src/postgres/transaction.ts'
import { leaseFor, type Outbox, toChange, type WaitingChange } from '../../src/registry/outbox.ts'
import type { Change } from '../../src/registry/store.ts'
import { createRequest, save, toName } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

const TIME_LIMIT = 30_000
const LEASE = leaseFor(TIME_LIMIT)
const WAIT = 20_000
const HOUR = 3_600_000

let server: TestServer
let pool: Pool
let store: PostgresStore
let outbox: Outbox
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool })
  const findTeam = () => null
  store = createPostgresStore({ pool, findTeam, synchronize: () => {}, synchronizeTimeLimit: TIME_LIMIT })
  const transact = createTransact(toDatabase({ pool }), createStatements(toTables({})), 10_000)
  outbox = createOutbox(transact, LEASE)
})
beforeEach(async () => {
  for (const table of tables) await pool.query(`DELETE FROM domain_registration.${table}`)
})
afterAll(() => server.stop())

const tables = ['names', 'releases']

/** As if so many milliseconds had passed for the only change that waits. */
async function pass(milliseconds: number): Promise<void> {
  for (const table of tables)
    await pool.query(`UPDATE domain_registration.${table} SET due = due - $1::interval`, [`${milliseconds} ms`])
}

/** In how many milliseconds the only change that waits is due, and how often it was refused. */
async function waiting(): Promise<{ wait: number; refusals: number }> {
  const { rows } = await pool.query(
    tables
      .map(
        table => `SELECT extract(epoch FROM due - clock_timestamp())::float * 1000 AS wait,
           coalesce(refusals, 0) AS refusals FROM domain_registration.${table} WHERE due IS NOT NULL`,
      )
      .join(' UNION ALL '),
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

/** Of waits that differ by far more than a test takes. */
async function expectWait(milliseconds: number, refusals = 0): Promise<void> {
  const { wait, refusals: counted } = await waiting()
  expect(wait).toBeGreaterThan(milliseconds / 2)
  expect(wait).toBeLessThanOrEqual(milliseconds)
  expect(counted).toBe(refusals)
}

const take = async () => {
  const changes = await outbox.take(1000, LEASE)
  expect(changes).toHaveLength(1)
  return changes
}
const postpone = (changes: readonly WaitingChange[], wait = WAIT) =>
  outbox.postpone(changes.map(change => ({ change, lease: change.lease, wait, isRefusal: true })))
/** What a call does that could not push. */
const giveBack = (changes: readonly Change[]) =>
  outbox.postpone(changes.map(change => ({ change, lease: null, wait: WAIT, isRefusal: false })))
const saveOne = async () => (await save(store, '1', ['www.a.com'])).map(each => toChange(each, 'registered'))
const find = () => store.register(createRequest('1', [toName('www.a.com')], [], () => []))

test.each(['registered', 'released'])('a sweep puts off what it has taken: %s', async kind => {
  await saveOne()
  if (kind === 'released') await store.release('1', ['www.a.com'])
  await pass(LEASE)
  const taken = await take()
  expect(taken).toMatchObject([{ kind, domain: 'www.a.com' }])
  await expectWait(LEASE)
  await postpone(taken)
  await expectWait(WAIT, 1)
})

test.each(['registered', 'released'])('what another sweep has taken since stays with that: %s', async kind => {
  await saveOne()
  if (kind === 'released') await store.release('1', ['www.a.com'])
  await pass(LEASE)
  const stale = await take()
  await pass(LEASE)
  const taken = await take()
  await postpone(stale)
  await expectWait(LEASE)
  await postpone(taken)
  await expectWait(WAIT, 1)
})

test('what a call could not push is due soon', async () => {
  await giveBack(await saveOne())
  await expectWait(WAIT)
})

test('what a sweep has taken from the call that saved it stays with the sweep', async () => {
  const saved = await saveOne()
  await pass(LEASE)
  await take()
  await giveBack(saved)
  await expectWait(LEASE)
})

test('what another call has found stays with that, when the one that saved it could not push it', async () => {
  const saved = await saveOne()
  await pass(1)
  await find()
  await giveBack(saved)
  await expectWait(LEASE)
})

test('what a call finds waits no less for it', async () => {
  await saveOne()
  await pass(LEASE)
  await postpone(await take(), HOUR)
  await find()
  await expectWait(HOUR, 1)
})

test('what was pushed is done, whoever has taken it since', async () => {
  await saveOne()
  await pass(LEASE)
  const stale = await take()
  await pass(LEASE)
  await take()
  await outbox.finish(stale)
  expect(await store.countPending()).toBe(0)
})

test('a release that waited for the push of its registration is due after that', async () => {
  await saveOne()
  await pass(LEASE)
  const stale = await take()
  await store.release('1', ['www.a.com'])
  await expectWait(LEASE)
  await outbox.finish(stale)
  expect((await waiting()).wait).toBeLessThanOrEqual(0)
})
