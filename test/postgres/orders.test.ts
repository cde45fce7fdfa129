import { drizzle } from 'drizzle-orm/node-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Order } from '../../examples/order.ts'
import { placeOrder as placeWithDrizzle } from '../../examples/order-drizzle.ts'
import { placeOrder as placeWithKysely } from '../../examples/order-kysely.ts'
import { placeOrder as placeWithPg } from '../../examples/order-pg.ts'
import { placeOrder as placeWithPostgresJs } from '../../examples/order-postgres-js.ts'
import { migrate } from '../../src/postgres/index.ts'
import { rejection } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

const CONNECTIONS = 10

let server: TestServer
let pool: Pool
let sql: Sql
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ max: CONNECTIONS })
  const { host, port, user, password, database } = server.config
  const options = { host, port, user, password, database, max: CONNECTIONS, onnotice() {} }
  sql = postgres(options as postgres.Options<never>)
  await migrate({ database: pool })
  await pool.query(`CREATE TABLE orders (id text PRIMARY KEY, team_id text NOT NULL);
    CREATE TABLE teams (id integer PRIMARY KEY, organization_id integer NOT NULL, state text NOT NULL);
    INSERT INTO teams VALUES (1, 10, 'active')`)
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await server.stop()
})

const drivers: Readonly<Record<string, (order: Order) => Promise<unknown>>> = {
  pg: order => placeWithPg(pool, order),
  'postgres.js': order => placeWithPostgresJs(sql, order),
  Kysely: order => placeWithKysely(new Kysely({ dialect: new PostgresDialect({ pool }) }), order),
  Drizzle: order => placeWithDrizzle(drizzle(pool), order),
}

describe.each(Object.entries(drivers))('an order placed through %s', (driver, placeOrder) => {
  const name = driver.toLowerCase()
  const saved = async () => {
    const orders = await pool.query('SELECT id FROM orders WHERE id LIKE $1 ORDER BY id', [`${driver}%`])
    const names = await pool.query('SELECT domain FROM domain_registration.names WHERE domain LIKE $1 ORDER BY 1', [
      `%${name}.%`,
    ])
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
