import { readFileSync } from 'node:fs'
import { PGlite, type PGliteInterface, type Transaction as PgliteTransaction } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOverPostgresJs } from 'drizzle-orm/postgres-js'
import { Kysely, ParseJSONResultsPlugin, PostgresDialect, type Transaction } from 'kysely'
import type { Client, Pool, PoolClient } from 'pg'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { bridgeKysely, withinKysely } from '../../examples/bridge-kysely.ts'
import type { Order } from '../../examples/order.ts'
import { placeOrder as placeWithDrizzle } from '../../examples/order-drizzle.ts'
import { placeOrder as placeWithKysely } from '../../examples/order-kysely.ts'
import { placeOrder as placeWithPg } from '../../examples/order-pg.ts'
import { placeOrder as placeWithPostgresJs } from '../../examples/order-postgres-js.ts'
import { withinDrizzle } from '../../examples/within-drizzle.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresDriver,
  type PostgresJsTransaction,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import type { Change } from '../../src/rules/registration.ts'
import { save, toDomains } from '../../src/testing/calls.ts'
import { rejection, team1, teams } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

interface Pools {
  readonly pool: Pool
  readonly sql: Sql
  readonly pglite: PGlite
  readonly kysely: Kysely<unknown>
}

/** Calls `use` with a transaction of the driver, first in its valid form and then in invalid ones. */
interface Driver {
  overPool(pools: Pools): PostgresDriver
  begin(pools: Pools, use: (right: PostgresDriver, wrong: readonly unknown[]) => Promise<void>): Promise<unknown>
}

const drivers: Readonly<Record<string, Driver>> = {
  pg: {
    overPool: ({ pool }) => pool,
    async begin({ pool }, use) {
      const client = await pool.connect()
      const query = (text: string, values: unknown[]) => client.query(text, values)
      const bridge: PostgresBridge = { query, transaction: work => work({ query }) }
      await client.query('BEGIN')
      try {
        await use({ query }, [client, bridge])
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
  },
  'postgres.js': {
    overPool: ({ sql }) => sql,
    begin: ({ sql }, use) =>
      sql.begin(tx => {
        const query = async (text: string, values: unknown[]) => ({ rows: await tx.unsafe(text, values as never[]) })
        return use({ query }, [tx, { query, transaction: (work: never) => tx.savepoint(work) }])
      }),
  },
  PGlite: {
    overPool: ({ pglite }) => pglite,
    begin: ({ pglite }, use) =>
      pglite.transaction(tx => {
        const query = (text: string, values: unknown[]) => tx.query(text, values)
        return use(tx, [{ query, transaction: (work: (transaction: unknown) => unknown) => work(tx) }])
      }),
  },
  Kysely: {
    overPool: ({ kysely }) => bridgeKysely(kysely),
    begin: ({ kysely }, use) =>
      kysely.transaction().execute(trx => use(withinKysely(trx), [bridgeKysely(trx as never), trx])),
  },
  Drizzle: {
    overPool: ({ pool }) => drizzle(pool).$client,
    begin: ({ pool }, use) => drizzle(pool).transaction(tx => use(withinDrizzle(tx), [tx])),
  },
  'Drizzle over postgres.js': {
    overPool: ({ sql }) => drizzleOverPostgresJs(sql).$client,
    begin: ({ sql }, use) => drizzleOverPostgresJs(sql).transaction(tx => use(withinDrizzle(tx), [tx])),
  },
}

let server: TestServer
let pools: Pools
beforeAll(async () => {
  server = await openDatabase()
  const pool = server.createPool()
  const { host, port, user, password, database } = server.config
  const sql = postgres({ host, port, user, password, database, onnotice() {} } as postgres.Options<never>)
  const kysely = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new ParseJSONResultsPlugin()],
  })
  pools = { pool, sql, pglite: new PGlite(), kysely }
  for (const each of [pool, pools.pglite]) await migrate({ database: each })
  await pool.query(`CREATE TABLE orders (id text PRIMARY KEY, team_id text NOT NULL);
    CREATE TABLE teams (id integer PRIMARY KEY, organization_id integer NOT NULL, state text NOT NULL);
    INSERT INTO teams VALUES (1, 10, 'active')`)
})
afterAll(async () => {
  await pools.sql.end({ timeout: 1 })
  await pools.pglite.close()
  await server.stop()
})

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null

describe.each(Object.entries(drivers))('%s:', (name, { overPool, begin }) => {
  const pushed: string[] = []
  const synchronize = (changes: readonly Change[]) => void pushed.push(...toDomains(changes))
  const create = (database: unknown) => createPostgresStore({ database: database as never, findTeam, synchronize })
  const domain = `${name.toLowerCase().replaceAll(' ', '-')}.example.com`
  const register = async (database: PostgresDriver) => {
    const { data } = await registerDomains(team1, { domains: [domain] }, create(database))
    expect(data.totals.created).toBe(1)
    expect(pushed).toEqual([])
  }

  test('a registration in a transaction is pushed only after the commit', async () => {
    const overThePool = create(overPool(pools))
    const rolledBack = begin(pools, async right => {
      await register(right)
      throw new Error('The order was cancelled')
    })
    expect(await rejection(rolledBack)).toMatchObject({ message: 'The order was cancelled' })
    await overThePool.synchronizePending()
    expect([pushed, await overThePool.list()]).toEqual([[], []])

    await begin(pools, register)
    await overThePool.synchronizePending()
    expect(pushed).toEqual([domain])
    await overThePool.release('1', [domain])
    await overThePool.synchronizePending()
  })

  test('an invalid transaction object is rejected before anything is saved or pushed', async () => {
    pushed.length = 0
    await begin(pools, async (_, wrong) => {
      for (const database of wrong) {
        const refused = rejection((async () => save(create(database), '1', [domain]))())
        expect(await refused).toMatchObject({ name: 'TypeError', message: expect.stringContaining('"database"') })
      }
    })
    expect([pushed, await create(overPool(pools)).list()]).toEqual([[], []])
  })
})

type Query = (text: string, values: unknown[]) => Promise<unknown>

describe.each<[string, (query: Query) => unknown]>([
  ['a bridge', query => ({ query, transaction: (work: (within: unknown) => unknown) => work({ query }) })],
  ['a transaction', query => ({ query })],
])('the error of %s', (_, wrap) => {
  test.each<[string, (rows: unknown[]) => unknown, string]>([
    ['the array of the rows, as Neon and TypeORM do', rows => rows, 'an array: return { rows } in its place'],
    ['nothing', () => undefined, 'a value of type undefined'],
    ['one row', ([row]) => row, 'a value of type object'],
  ])('whose query resolves to %s says so', async (_, convert, found) => {
    const query: Query = async (text, values) => convert((await pools.pool.query(text, values)).rows)
    const database = wrap(query) as PostgresBridge
    const message = `must resolve to an object with the array "rows", but resolved to ${found}`
    for (const call of [
      async () => createPostgresStore({ database, findTeam }).list(),
      () => createPostgresKeyStore({ database }).findKey('a'.repeat(64)),
      () => migrate({ database }),
    ])
      expect(await rejection(call())).toMatchObject({ name: 'TypeError', message: expect.stringContaining(message) })
  })
})

/** The examples of docs/orm.md. */
const examples: Readonly<Record<string, (order: Order) => Promise<unknown>>> = {
  pg: order => placeWithPg(pools.pool, order),
  'postgres.js': order => placeWithPostgresJs(pools.sql, order),
  Kysely: order => placeWithKysely(pools.kysely, order),
  Drizzle: order => placeWithDrizzle(drizzle(pools.pool), order),
}

describe.each(Object.entries(examples))('an order placed through %s', (driver, placeOrder) => {
  const name = driver.toLowerCase()
  const saved = async () => {
    const orders = await pools.pool.query('SELECT id FROM orders WHERE id LIKE $1 ORDER BY id', [`${driver}%`])
    const names = await pools.pool.query(
      'SELECT domain FROM domain_registration.names WHERE domain LIKE $1 ORDER BY 1',
      [`%${name}.%`],
    )
    return [orders.rows.map(({ id }) => id), names.rows.map(({ domain }) => domain)]
  }

  test('is rolled back together with its names if one of them is invalid', async () => {
    const order = { id: driver, teamId: '1', domains: [`kept.${name}.example.com`, 'localhost'] }
    expect(await rejection(placeOrder(order))).toMatchObject({ message: expect.stringContaining('localhost') })
    expect(await saved()).toEqual([[], []])
  })

  test('fails with 404 if the ID of the team is longer than any in the table', async () => {
    const order = { id: `${driver}-404`, teamId: '9'.repeat(20), domains: [`kept.${name}.example.com`] }
    expect(await rejection(placeOrder(order))).toMatchObject({ status: 404, code: 'team_not_found' })
  })

  test('is saved together with its names, even if sixty orders are placed at once on ten connections', async () => {
    const orders = Array.from({ length: 60 }, (_, number) => ({
      id: `${driver} ${number}`,
      teamId: '1',
      domains: [`n${number}.${name}.example-${number}.com`],
    }))
    await Promise.all(orders.map(placeOrder))
    expect(await saved()).toEqual([orders.map(({ id }) => id).sort(), orders.flatMap(({ domains }) => domains).sort()])
  })
})

// `tsc` checks this test.
test('the types accept the pool of each driver, but neither a transaction nor a single connection', () => {
  expectTypeOf<Pool | PGlite | PGliteInterface | Sql>().toExtend<PostgresDriver>()
  expectTypeOf<PgliteTransaction>().toExtend<PostgresTransaction>()
  expectTypeOf<TransactionSql>().toExtend<PostgresJsTransaction>()
  expectTypeOf<object>().not.toExtend<PostgresDriver>()
  expectTypeOf<Client>().not.toExtend<PostgresDriver>()
  expectTypeOf<PoolClient>().not.toExtend<PostgresDriver>()
  expectTypeOf<TransactionSql>().not.toExtend<PostgresDriver>()
  expectTypeOf<Transaction<unknown>>().not.toExtend<PostgresDriver>()
  void ((db: Kysely<{ orders: { id: string } }>, trx: Transaction<unknown>) => [
    bridgeKysely(db),
    // @ts-expect-error
    bridgeKysely(trx),
  ])
})

test('these tests use every way of passing a transaction that docs/orm.md shows', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const tests = read('transactions.test.ts') + read('../drivers/prisma.test.js')
  const used = tests.replaceAll(/: (?:string|unknown\[\])/g, '')
  const rows = read('../../docs/orm.md').matchAll(/^\| [^|]* \| `(\{ query[^`]*|within[^`]*|tx)`[^|]* \| [^|]*\|$/gm)
  const forms = Array.from(rows, ([, form]) => form?.replace(/^\{ query: (.*) \}$/, '$1') ?? '')
  expect(forms).toHaveLength(6)
  expect(forms.filter(form => !used.includes(form))).toEqual([])
})
