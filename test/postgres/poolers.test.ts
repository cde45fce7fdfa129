import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDeadline } from '../../src/deadline.ts'
import { toDatabase } from '../../src/postgres/driver.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { createFaultyNetwork, type FaultyNetwork, noFault, refuseBegin } from './faulty-network.ts'
import { openDatabase, type TestServer } from './server.ts'

const table = 'domain_registration.names'

let server: TestServer
let network: FaultyNetwork
/** Another program, which reaches the database without a pooler. */
let foreign: Pool
beforeAll(async () => {
  server = await openDatabase()
  network = await createFaultyNetwork({ host: '127.0.0.1', port: server.config.port as number })
  foreign = server.createPool()
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

const held = async () =>
  (await foreign.query('SELECT domain FROM domain_registration.names ORDER BY domain')).rows.map(({ domain }) => domain)

describe.each([
  ['pipelined', true],
  ['one statement after the other', false],
])('behind a pooler that refuses a BEGIN and keeps the connection, %s,', (_, pipeline) => {
  const createPool = () => server.createPool({ port: network.port, max: 1, pipeline })

  test('nothing of the second part is sent, and the connection is kept', async () => {
    const pool = createPool()
    const database = toDatabase({ database: pool })
    await pool.query('SELECT')
    network.suffer(refuseBegin)
    let isSaving = false
    const settings = { transaction_isolation: 'read committed' }
    const transaction = database.transact(createDeadline(5000), settings, async ({ ask }) => {
      await ask({ name: 'one', text: 'SELECT 1' })
      isSaving = true
    })
    expect(await rejection(transaction)).toMatchObject({ code: '53300' })
    expect(isSaving).toBe(false)
    network.suffer(noFault)
    expect(await database.transact(createDeadline(5000), settings, async () => 'saved')).toBe('saved')
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  })

  test('a call saves nothing, and goes through when it is made again', async () => {
    const store = createPostgresStore({ database: createPool(), findTeam: () => null })
    await save(store, '1', ['a.com'])
    await save(store, '1', ['b.a.com'])
    network.suffer(refuseBegin)
    expect(await rejection(save(store, '1', ['c.a.com']))).toMatchObject({ code: '53300' })
    expect(await held()).toEqual(['a.com', 'b.a.com'])
    network.suffer(noFault)
    expect(await save(store, '1', ['c.a.com'])).toHaveLength(1)
  })
})
