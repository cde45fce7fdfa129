import { afterAll, expect, test } from 'vitest'
import { authenticate, generateApiKey } from '../../src/index.ts'
import { createSqliteKeyStore } from '../../src/sqlite/index.ts'
import { openDatabase } from './open-database.ts'

const database = openDatabase()
const keys = createSqliteKeyStore({ database })
afterAll(() => void database.close())

test('a key is found by its hash, until it is revoked', async () => {
  const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
  await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create', `o'clock","`] })
  expect(await keys.findKey(hash)).toMatchObject({
    hash,
    type: 'team',
    ownerId: '1',
    scopes: ['domains:create', `o'clock","`],
    revokedAt: null,
  })
  expect(await authenticate(`Bearer ${key}`, keys)).toMatchObject({ type: 'team', teamId: '1' })

  expect(await keys.revokeKey(hash)).toBe(true)
  await expect(authenticate(`Bearer ${key}`, keys)).rejects.toMatchObject({ status: 401 })
})

test('a key that was revoked keeps its date when it is revoked again', async () => {
  const revokedAt = new Date('2020-02-03T04:05:06.789Z')
  await keys.addKey({ hash: 'a'.repeat(64), type: 'organization', ownerId: '2', scopes: [], revokedAt })
  expect(await keys.revokeKey('a'.repeat(64))).toBe(true)
  expect(await keys.findKey('a'.repeat(64))).toMatchObject({ type: 'organization', revokedAt })
})

test('a key that is added again is replaced', async () => {
  const hash = 'b'.repeat(64)
  await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['x'], revokedAt: new Date() })
  await keys.addKey({ hash, type: 'team', ownerId: '3', scopes: ['y'] })
  expect(await keys.findKey(hash)).toMatchObject({ ownerId: '3', scopes: ['y'], revokedAt: null })
})

test('an unknown key is null, and cannot be revoked', async () => {
  expect(await keys.findKey('c'.repeat(64))).toBeNull()
  expect(await keys.revokeKey("' OR 1=1 --")).toBe(false)
})

test('keys outlive the store that saved them', async () => {
  await keys.addKey({ hash: 'd'.repeat(64), type: 'team', ownerId: '1', scopes: [] })
  expect(await createSqliteKeyStore({ database }).findKey('d'.repeat(64))).toMatchObject({ ownerId: '1' })
})

test('a key expires when it was said to, and is listed with its owner’s others', async () => {
  const { key, hash } = await generateApiKey({ type: 'team', id: '77' })
  const record = { hash, type: 'team', ownerId: '77', scopes: ['domains:create'], expiresAt: new Date(1) } as const
  await keys.addKey(record)
  await expect(authenticate(`Bearer ${key}`, keys)).rejects.toMatchObject({ status: 401 })
  await keys.addKey({ ...record, hash: 'e'.repeat(64), type: 'organization' })
  expect(await keys.listKeys({ type: 'team', ownerId: '77' })).toEqual([{ ...record, revokedAt: null }])
})

test('keys are listed in the order in which they were added, within one millisecond too', async () => {
  const hashes = ['f', '2', '9', '0', '8', '4'].map(digit => digit.repeat(64))
  for (const hash of hashes) await keys.addKey({ hash, type: 'organization', ownerId: '88', scopes: [] })
  const listed = await keys.listKeys({ type: 'organization', ownerId: '88' })
  expect(listed.map(({ hash }) => hash)).toEqual(hashes)
})
