import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { postgres } from '../../src/postgres/engines/plain.ts'
import { toSettings } from '../../src/postgres/engines/settings.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresDriver,
  postgresSchema,
} from '../../src/postgres/index.ts'
import { lookUp } from '../../src/testing/calls.ts'

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
  await expect(call({ schema: 1 })).rejects.toThrow(
    'The option "schema" must be the name of a schema, at most 63 bytes in UTF-8; it is 1',
  )
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
  expect(toSettings(postgres, 0.1, 'read committed')).toMatchObject({
    statement_timeout: '1',
    lock_timeout: '1',
    idle_in_transaction_session_timeout: '1',
  })
})

const hash = 'a'.repeat(64)
const owner = { type: 'team', ownerId: '1' } as const
const silent: PostgresDriver = {
  query: () => new Promise(() => {}),
  transaction: () => new Promise(() => {}),
}
const options = { database: silent, timeLimit: 20 }

test.each<[string, () => unknown]>([
  ['migrate', () => migrate(options)],
  ['list of a store', () => createPostgresStore({ ...options, findTeam }).list()],
  ['findKey of a key store', () => createPostgresKeyStore(options).findKey(hash)],
  ['listKeys of a key store', () => createPostgresKeyStore(options).listKeys(owner)],
  ['revokeKey of a key store', () => createPostgresKeyStore(options).revokeKey(hash)],
])('%s rejects at its time limit if the database does not respond', async (_, call) => {
  await expect((async () => call())()).rejects.toThrow('No response within the time limit of 20 ms')
})

test.each([
  [true, 'prepare', [/^domain_registration_find_key_/, /^domain_registration_find_by_domain_/]],
  [false, 'do not prepare', []],
])('with preparedStatements: %s, stores and key stores %s statements', async (isOn, _, expected) => {
  const names: string[] = []
  const client = {
    async query({ name, text }: { name?: string; text: string }) {
      if (name) names.push(name)
      return {
        rows: /^SELECT version/.test(text) ? [{ version: 'PostgreSQL 18.0', isDistributed: 'false' }] : [],
        command: text,
      }
    },
    release() {},
    on() {},
    removeListener() {},
  }
  const pool = { connect: (callback: (error: undefined, lent: typeof client) => void) => callback(undefined, client) }
  const options = { database: pool as PostgresDriver, preparedStatements: isOn }
  await expect((async () => createPostgresKeyStore(options).findKey(hash))()).rejects.toThrow('Row-level security')
  await lookUp(createPostgresStore({ ...options, findTeam }), '1', ['example.com'])
  for (const name of expected) expect(names).toContainEqual(expect.stringMatching(name))
  expect(names.length > 0).toBe(isOn)
})

test.each(['3F000', '42P01', '42703', '42P10'])(
  'if a statement fails with %s because tables are missing or outdated, the error says to run `migrate`',
  async code => {
    const cause = Object.assign(new Error('missing'), { code })
    const database: PostgresDriver = { ...silent, query: () => Promise.reject(cause) }
    const message = expect.stringContaining('run migrate(), then "domain-registration doctor"')
    for (const call of [
      () => createPostgresStore({ database, findTeam }).list(),
      () => createPostgresKeyStore({ database }).findKey(hash),
    ])
      await expect((async () => call())()).rejects.toMatchObject({ message, code, cause })
  },
)

test('`migrate` creates nothing if it cannot find out whether the tables exist', async () => {
  let hasBegun = false
  const denied = Object.assign(new Error('permission denied'), { code: '42501' })
  const database: PostgresDriver = {
    async query(text) {
      if (text.includes('to_regclass')) throw denied
      const isEngine = text.includes('SELECT version()')
      return { rows: isEngine ? [{ version: 'PostgreSQL 18.0', isDistributed: 'false' }] : [] }
    },
    async transaction() {
      hasBegun = true
      throw new Error('Nothing should be created')
    },
  }
  await expect(migrate({ database })).rejects.toBe(denied)
  expect(hasBegun).toBe(false)
})
