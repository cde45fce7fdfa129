/** Tests examples/bridge-prisma.ts with @prisma/adapter-pg and PostgreSQL. Run by `npm run test:drivers`. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import { registerDomains } from 'domain-registration'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import pg from 'pg'
import { bridgePrisma, withinPrisma } from '../../examples/bridge-prisma.ts'
import { createStore } from '../../examples/order.ts'
import { placeOrder } from '../../examples/order-prisma.ts'
import { findCode } from '../../src/postgres/drivers/failures.ts'
import { createMortalServer } from '../postgres/mortal-server.ts'

const here = file => fileURLToPath(new URL(file, import.meta.url))

/** Generating a client needs no engine, but Prisma downloads one unless this variable is set. */
async function generate() {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  const parameters = [here('node_modules/prisma/build/index.js'), 'generate', '--schema', here('schema.prisma')]
  await promisify(execFile)(process.execPath, parameters, { env, cwd: here('.') })
  const { PrismaClient } = await import('./node_modules/generated/client.ts')
  return PrismaClient
}

describe('Prisma, through a bridge,', () => {
  let server
  let PrismaClient
  let prisma
  let database
  before(async () => {
    PrismaClient = await generate()
    server = await createMortalServer()
    await server.start()
    const { host, port, user, password } = server.config
    const connectionString = `postgres://${user}:${password}@${host}:${port}/postgres`
    prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) })
    database = bridgePrisma(prisma)
    await migrate({ database })
  })
  after(async () => {
    await prisma.$disconnect()
    await server.remove()
  })

  const cases = domainStoreSuite({
    async createStore({ teams, ...options }) {
      for (const table of ['names', 'changes', 'monitor'])
        await database.query(`DELETE FROM domain_registration.${table}`, [])
      const findTeam = id => teams.find(team => team.id === id) ?? null
      return createPostgresStore({ ...options, database, findTeam })
    },
    features: managedStoreFeatures,
    timeLimit: 20_000,
  })
  for (const { name, run } of cases) test(name, run)
  test('runs more than a hundred cases', () => assert.ok(cases.length > 100))

  test('stores and finds keys', async () => {
    const keys = createPostgresKeyStore({ database })
    const hash = 'a'.repeat(64)
    const record = { hash, type: 'team', ownerId: '1', scopes: ['domains:create'], expiresAt: new Date('2030-01-01') }
    await keys.addKey(record)
    const found = await keys.findKey(hash)
    assert.deepEqual({ ...found, ...record }, found)
  })

  for (const code of ['40001', '40P01', '23505']) {
    test(`passes on the SQLSTATE ${code}, so the store can retry the call`, async () => {
      const raise = `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`
      const error = await database.query(raise, []).then(assert.fail, cause => cause)
      assert.equal(findCode(error, new Set([code])), code)
    })
  }

  test('is rejected before anything is saved or pushed if the bridge is created with a transaction', async () => {
    const pushed = []
    await prisma.$transaction(async tx => {
      const options = { findTeam: () => null, synchronize: changes => pushed.push(...changes) }
      const store = createPostgresStore({ ...options, database: bridgePrisma(tx) })
      await assert.rejects(async () => store.count(), { name: 'TypeError', message: /a bridge whose "query" runs in/ })
      await assert.rejects(store.synchronizePending(), { name: 'TypeError' })
    })
    assert.deepEqual(pushed, [])
  })

  test('registers the names of a transaction only if the transaction commits', async () => {
    const team = { id: '1', organizationId: '10', state: 'active' }
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
    const register = (tx, domain) => {
      const store = createPostgresStore({ database: withinPrisma(tx), findTeam: () => team })
      return registerDomains(keyContext, { domains: [domain] }, store)
    }
    const options = { isolationLevel: 'ReadCommitted' }
    await prisma.$transaction(tx => register(tx, 'kept.example.com'), options)
    const rolledBack = prisma.$transaction(async tx => {
      assert.equal((await register(tx, 'undone.example.com')).data.totals.created, 1)
      throw new Error('Undo it')
    }, options)
    await assert.rejects(rolledBack, /Undo it/)
    const store = createPostgresStore({ database, findTeam: () => team })
    const listed = await store.list({ below: 'example.com' })
    assert.deepEqual(
      listed.map(({ domain }) => domain),
      ['kept.example.com'],
    )
  })

  test('commits sixty simultaneous orders with their names, and nothing of an order with an invalid name', async () => {
    for (const text of [
      'CREATE TABLE orders (id text PRIMARY KEY, team_id text NOT NULL)',
      'CREATE TABLE teams (id text PRIMARY KEY, organization_id text NOT NULL, state text NOT NULL)',
      "INSERT INTO teams VALUES ('1', '10', 'active')",
    ])
      await prisma.$executeRawUnsafe(text)
    const place = (id, domains) => placeOrder(prisma, { id, teamId: '1', domains })
    await assert.rejects(place('invalid', ['kept.order-x.com', 'localhost']), /localhost/)
    const numbers = Array.from({ length: 60 }, (_, number) => String(number))
    await Promise.all(numbers.map(number => place(number, [`www.order-${number}.com`])))
    const ids = (await prisma.order.findMany()).map(({ id }) => id)
    assert.deepEqual(ids.sort(), numbers.sort())
    const found = await createStore(database).list({ limit: 1000 })
    assert.equal(found.filter(({ domain }) => domain.includes('order-')).length, 60)
    assert.equal(found.filter(({ domain }) => domain.includes('kept.order-x')).length, 0)
  })

  for (const [what, pattern] of [
    ['name', /INSERT INTO .*\.names/],
    ['change', /INSERT INTO .*\.changes/],
  ])
    test(`saves no ${what} that reaches PostgreSQL after Prisma's time limit has ended the transaction`, async () => {
      const { host, port, user, password } = server.config
      const pool = new pg.Pool({ host, port, user, password, database: 'postgres', max: 1 })
      let [rolledBack, sent] = [() => {}, () => {}]
      const afterRollback = new Promise(resolve => (rolledBack = resolve))
      const isSent = new Promise(resolve => (sent = resolve))
      pool.on('connect', client => {
        const send = client.query.bind(client)
        client.query = async (query, ...values) => {
          const text = query.text ?? query
          const isLate = pattern.test(text)
          if (isLate) await afterRollback
          try {
            return await send(query, ...values)
          } finally {
            if (isLate) sent()
            if (text === 'ROLLBACK') rolledBack()
          }
        }
      })
      const hasty = new PrismaClient({ adapter: new PrismaPg(pool) })
      const within = { maxWait: 10_000, timeout: 200 }
      const store = createPostgresStore({
        database: {
          ...withinPrisma(hasty),
          transaction: work => hasty.$transaction(tx => work(withinPrisma(tx)), within),
        },
        findTeam: () => ({ id: '1', organizationId: '10', state: 'active' }),
        synchronize() {},
      })
      const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
      const call = registerDomains(keyContext, { domains: ['late.example.com'] }, store, { timeLimit: 5_000 })
      await assert.rejects(call)
      await isSent
      for (const table of ['names', 'changes']) {
        const text = `SELECT FROM domain_registration.${table} WHERE domain = 'late.example.com'`
        assert.equal((await pool.query(text)).rowCount, 0)
      }
      await hasty.$disconnect()
      await pool.end()
    })

  test('reports missing tables, and says to run migrate()', async () => {
    const store = createPostgresStore({ database, schema: 'not_there', findTeam: () => null })
    await assert.rejects(async () => store.count(), /migrate\(\)/)
  })
})
