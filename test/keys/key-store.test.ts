import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { authenticate, createMemoryKeyStore, generateApiKey, type KeyRecord } from '../../src/index.ts'
import { rejection, scopes } from '../fixtures.ts'

async function createKey(changes: Partial<KeyRecord> = {}) {
  const { key, hash } = await generateApiKey({ type: 'team', id: '3' })
  return { key, record: { hash, type: 'team', ownerId: '3', scopes, ...changes } satisfies KeyRecord }
}

describe('a key expires', () => {
  const now = Date.UTC(2026, 0, 1)
  beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test.each<[when: string, expiresAt: KeyRecord['expiresAt'], isActive: boolean]>([
    ['never, without a date', undefined, true],
    ['never, with null', null, true],
    ['in a moment', new Date(now + 1), true],
    ['a moment ago', new Date(now - 1), false],
    ['now', new Date(now), false],
    ['at a date that is none', new Date(Number.NaN), false],
    ['at a date that a store without types read as text', 'tomorrow' as never, false],
  ])('%s', async (_, expiresAt, isActive) => {
    const { key, record } = await createKey({ expiresAt })
    const asked = authenticate(`Bearer ${key}`, { findKey: () => record })
    if (isActive) expect(await asked).toMatchObject({ teamId: '3' })
    else expect(await rejection(asked)).toMatchObject({ status: 401, code: 'unauthorized' })
  })
})

describe('the key store in memory', () => {
  test('revokes a key, once, and says whether there was one', async () => {
    const keys = createMemoryKeyStore()
    const { key, record } = await createKey()
    keys.addKey(record)
    expect(await authenticate(`Bearer ${key}`, keys)).toMatchObject({ teamId: '3' })
    expect(keys.revokeKey(record.hash)).toBe(true)
    const revokedAt = keys.findKey(record.hash)?.revokedAt
    expect(revokedAt).toBeInstanceOf(Date)
    expect(await rejection(authenticate(`Bearer ${key}`, keys))).toMatchObject({ status: 401 })
    expect(keys.revokeKey(record.hash)).toBe(true)
    expect(keys.findKey(record.hash)?.revokedAt).toBe(revokedAt)
    expect(keys.revokeKey('0'.repeat(64))).toBe(false)
  })

  test('lists the keys of an owner in the order in which they were added, and no key itself', async () => {
    const keys = createMemoryKeyStore()
    const [first, second, other] = await Promise.all([createKey(), createKey(), createKey()])
    keys.addKey(first.record)
    keys.addKey({ ...other.record, ownerId: '4' })
    keys.addKey({ ...other.record, hash: 'f'.repeat(64), type: 'organization' })
    keys.addKey(second.record)
    keys.revokeKey(first.record.hash)
    const listed = keys.listKeys({ type: 'team', ownerId: '3' })
    expect(listed).toEqual([{ ...first.record, revokedAt: expect.any(Date) }, second.record])
    expect(JSON.stringify(listed)).not.toContain(second.key)
    expect(keys.listKeys({ type: 'team', ownerId: '5' })).toEqual([])
  })

  test('keeps what it was given, whatever becomes of the object', async () => {
    const keys = createMemoryKeyStore()
    const { record } = await createKey()
    const given = { ...record, scopes: [...scopes] }
    keys.addKey(given)
    given.scopes.push('domains:delete')
    expect(keys.findKey(record.hash)?.scopes).toEqual(scopes)
  })

  test('takes a record with every field, none of its dates set, and an owner of many digits', async () => {
    const keys = createMemoryKeyStore()
    const { record } = await createKey({ ownerId: '1234567890', scopes: [], revokedAt: null, expiresAt: null })
    keys.addKey(record)
    expect(keys.findKey(record.hash)).toEqual(record)
  })

  test('refuses what is no record', () => {
    expect(() => createMemoryKeyStore().addKey(null as never)).toThrow(/^The key record must be an object$/)
  })

  const hash = 'f'.repeat(64)
  test.each<[field: string, changes: object, message: RegExp]>([
    ['hash', { hash: 'svc_team_3_00' }, /"hash" must be the SHA-256 of the key .* never the key itself/],
    ['hash', { hash: `${hash}f` }, /"hash" must be/],
    ['hash', { hash: `svc_team_3_${hash}` }, /"hash" must be/],
    ['hash', { hash: [hash] }, /"hash" must be/],
    ['type', { type: 'user' }, /"type" must be "organization" or "team"; it is "user"/],
    ['ownerId', { ownerId: 3 }, /"ownerId" must be the ID of the owner, a string of digits; it is 3/],
    ['ownerId', { ownerId: 'x3' }, /"ownerId" must be/],
    ['ownerId', { ownerId: '3x' }, /"ownerId" must be/],
    ['ownerId', { ownerId: '' }, /"ownerId" must be/],
    ['scopes', { scopes: 'domains:create' }, /"scopes" must be an array of scopes/],
    ['scopes', { scopes: [...scopes, 7] }, /"scopes" must be/],
    ['revokedAt', { revokedAt: '2026-01-01' }, /"revokedAt" must be a Date, or null/],
    ['expiresAt', { expiresAt: new Date('never') }, /"expiresAt" must be a Date, or null/],
    ['a field', { expireAt: new Date() }, /The field "expireAt" does not exist; there are .*"expiresAt"/],
  ])('refuses a record with a wrong %s', async (_, changes, message) => {
    const { record } = await createKey()
    expect(() => createMemoryKeyStore().addKey({ ...record, ...changes } as never)).toThrow(message)
  })
})
