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
