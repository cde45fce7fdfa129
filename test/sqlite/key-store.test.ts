import { afterAll, expect, test } from 'vitest'
import { createSqliteKeyStore } from '../../src/sqlite/index.ts'
import { describeKeyStore } from '../keys/key-store-suite.ts'
import { openDatabase } from './open-database.ts'

const database = openDatabase()
const keys = createSqliteKeyStore({ database })
afterAll(() => void database.close())

describeKeyStore('SQLite', () => keys)

test('keys that were added in the same millisecond are listed in the order in which they were added', async () => {
  const hashes = ['f', '2', '9', '0', '8', '4'].map(digit => digit.repeat(64))
  const key = { type: 'organization', ownerId: '88', scopes: [], createdAt: new Date(1_700_000_000_000) } as const
  for (const hash of hashes) await keys.addKey({ ...key, hash })
  const listed = await keys.listKeys({ type: 'organization', ownerId: '88' })
  expect(listed.map(({ hash }) => hash)).toEqual(hashes)
})

test('adding, changing or revoking a key fails if a trigger ignores the row', async () => {
  const database = openDatabase()
  const keys = createSqliteKeyStore({ database })
  const [first, second] = ['a'.repeat(64), 'b'.repeat(64)] as [string, string]
  const key = { type: 'team', ownerId: '1', scopes: [] } as const
  await keys.addKey({ ...key, hash: first })
  for (const event of ['INSERT', 'UPDATE'])
    database.exec(`CREATE TRIGGER no_${event} BEFORE ${event} ON domain_registration_keys
      BEGIN SELECT raise(IGNORE); END`)
  const attempt = (call: () => unknown) => expect((async () => call())()).rejects
  await attempt(() => keys.addKey({ ...key, hash: second })).toThrow(
    'A trigger skipped a row, so the API key was not added',
  )
  await attempt(() => keys.revokeKey(first)).toThrow('A trigger skipped a row, so the API key was not changed')
  await attempt(() => keys.updateKey(first, { label: 'x' })).toThrow(
    'A trigger skipped a row, so the API key was not changed',
  )
  expect(await keys.addKey({ ...key, hash: first })).toBe(false)
  expect(await keys.revokeKey(second)).toBe(false)
  database.close()
})
