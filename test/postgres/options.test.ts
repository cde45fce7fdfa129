import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { toSettings } from '../../src/postgres/engine.ts'
import { createPostgresKeyStore, createPostgresStore, migrate, postgresSchema } from '../../src/postgres/index.ts'

const database = new Pool()
const findTeam = () => null

test.each<[string, (options: never) => unknown]>([
  ['postgresSchema', postgresSchema],
  ['migrate', (options: object) => migrate({ database, ...options })],
  ['createPostgresStore', (options: object) => createPostgresStore({ database, findTeam, ...options })],
  ['createPostgresKeyStore', (options: object) => createPostgresKeyStore({ database, ...options })],
])('%s rejects a misspelled "schema" option, and a schema that is not a string', async (_, make) => {
  const call = async (options: object) => make(options as never)
  await expect(call({ shema: 'mine' })).rejects.toThrow(/^The option "shema" does not exist; there are .*"schema"/)
  await expect(call({ schema: 1 })).rejects.toThrow('The option "schema" must be the name of a schema; it is 1')
})

test.each<[string, (options: never) => unknown]>([
  ['migrate', migrate],
  ['createPostgresStore', createPostgresStore],
  ['createPostgresKeyStore', createPostgresKeyStore],
])('%s throws a TypeError if it is called without options', async (_, make) => {
  await expect((async () => make(undefined as never))()).rejects.toThrow('The options must be an object')
})

test('an invalid driver or findTeam is rejected at start-up', async () => {
  for (const pool of [undefined, null, {}, 'postgres://localhost', { transaction() {} }] as never[]) {
    expect(() => createPostgresStore({ database: pool, findTeam })).toThrow('"database" must be')
    expect(() => createPostgresKeyStore({ database: pool })).toThrow('"database" must be')
    await expect(migrate({ database: pool })).rejects.toThrow('"database" must be')
  }
  expect(() => createPostgresStore({ database, findTeam: undefined as never })).toThrow('"findTeam" must be')
})

test('a transaction gets a time limit of at least 1 ms, because PostgreSQL treats 0 as no limit', () => {
  expect(toSettings('PostgreSQL', 0.1, 'read committed')).toMatchObject({
    statement_timeout: '1',
    lock_timeout: '1',
    idle_in_transaction_session_timeout: '1',
  })
})
