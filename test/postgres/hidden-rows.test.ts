import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { releaseAll, transfer } from '../../src/index.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresKeyStore,
} from '../../src/postgres/index.ts'
import { save, toDomains } from '../../src/testing/calls.ts'
import { scopes } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

const table = (name: string) => `domain_registration.${name}`
const owner = { type: 'team', ownerId: '1' } as const
const record = { hash: 'a'.repeat(64), ...owner, scopes }
const unknown = { ...record, hash: 'b'.repeat(64) }

let server: TestServer
/** The owner of the tables. */
let admin: Pool
beforeAll(async () => {
  server = await openDatabase()
  admin = server.createPool()
  await migrate({ database: admin })
  await admin.query(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
})
afterAll(() => server.stop())

/** Runs work while a trigger skips the rows of a statement. */
async function whileSkipping(statement: string, name: string, work: () => Promise<void>, only = ''): Promise<void> {
  await admin.query(`
    CREATE TRIGGER skips BEFORE ${statement} ON ${table(name)} FOR EACH ROW ${only} EXECUTE FUNCTION skip()`)
  try {
    await work()
  } finally {
    await admin.query(`DROP TRIGGER skips ON ${table(name)}`)
  }
}

describe('a key store whose role is subject to row-level security', () => {
  const role = `blinkered_${crypto.randomUUID().replaceAll('-', '')}`
  let keys: PostgresKeyStore
  beforeAll(async () => {
    await createPostgresKeyStore({ database: admin }).addKey(record)
    await admin.query(`
      CREATE ROLE ${role} LOGIN PASSWORD '${role}';
      GRANT USAGE ON SCHEMA domain_registration TO ${role};
      GRANT SELECT, INSERT, UPDATE ON ${table('keys')} TO ${role};
      ALTER TABLE ${table('keys')} ENABLE ROW LEVEL SECURITY`)
    keys = createPostgresKeyStore({ database: server.createPool({ user: role, password: role }) })
  })
  afterAll(() =>
    admin.query(`
      ALTER TABLE ${table('keys')} DISABLE ROW LEVEL SECURITY;
      DROP OWNED BY ${role}; DROP ROLE ${role}`),
  )

  test.each<[string, () => Promise<unknown>]>([
    ['findKey', () => keys.findKey(record.hash)],
    ['listKeys', () => keys.listKeys(owner)],
    ['revokeKey', () => keys.revokeKey(record.hash)],
    ['updateKey', () => keys.updateKey(record.hash, { label: 'x' })],
    ['addKey', () => keys.addKey(unknown)],
  ])('rejects `%s`, and the error names row-level security', async (_, call) => {
    await expect(call()).rejects.toThrow(/row-level security/i)
  })

  test('rejects `revokeKey` and `updateKey` if the role may read a key but not change it', async () => {
    await admin.query(`CREATE POLICY readable ON ${table('keys')} FOR SELECT USING (true)`)
    await expect(keys.revokeKey(record.hash)).rejects.toThrow('prevented the change of an API key')
    await expect(keys.updateKey(record.hash, { label: 'x' })).rejects.toThrow('prevented the change of an API key')
    expect(await keys.findKey(record.hash)).toMatchObject({ revokedAt: null, label: null })
    await admin.query(`DROP POLICY readable ON ${table('keys')}`)
  })
})

test('if a trigger skips rows, a change of a key rejects, unless the key is unknown or already added', async () => {
  const keys = createPostgresKeyStore({ database: admin })
  await keys.addKey(record)
  await whileSkipping('INSERT OR UPDATE', 'keys', async () => {
    await expect(keys.revokeKey(record.hash)).rejects.toThrow('prevented the change of an API key')
    await expect(keys.updateKey(record.hash, { label: 'x' })).rejects.toThrow('prevented the change of an API key')
    await expect(keys.addKey(unknown)).rejects.toThrow('so the API key was not added')
    expect(await keys.revokeKey(unknown.hash)).toBe(false)
    expect(await keys.updateKey(unknown.hash, { label: 'x' })).toBe(false)
    expect(await keys.addKey(record)).toBe(false)
  })
})

test.each([
  ['all', ''],
  ['one', "WHEN (OLD.domain = 'a.com')"],
])('if a trigger skips %s of their names, a release and a transfer reject and change nothing', async (_, only) => {
  const findTeam = (id: string) => ({ id, organizationId: '1', state: 'active' as const })
  const store = createPostgresStore({ database: admin, findTeam })
  const domains = ['a.com', 'b.com', 'c.com']
  await save(store, '1', domains)
  const keep = async () => {
    await expect(store.release('1', domains)).rejects.toThrow('so nothing was released')
    await expect(releaseAll(store, '1')).rejects.toThrow('so nothing was released')
    const transferring = transfer(store, { from: '1', to: '2', domains })
    await expect(transferring).rejects.toThrow('so nothing was transferred')
  }
  await whileSkipping('UPDATE OR DELETE', 'names', keep, only)
  expect(toDomains(await store.list({ teamId: '1' }))).toEqual(domains)
  expect(await releaseAll(store, '1')).toBe(3)
})
