import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ApiError,
  authenticate,
  createMemoryKeyStore,
  generateApiKey,
  hashApiKey,
  type KeyRecord,
} from '../../src/index.ts'
import { createKeys, rejection, scopes } from '../fixtures.ts'

const { keys, issue } = createKeys()
const organizationKey = await issue('organization', '10')
const teamKey = await issue('team', '3')

test('an organization key and a team key identify their owner and scopes', async () => {
  expect(await authenticate(`Bearer ${organizationKey}`, keys)).toEqual({
    type: 'organization',
    organizationId: '10',
    scopes,
  })
  expect(await authenticate(`Bearer ${teamKey}`, keys)).toEqual({ type: 'team', teamId: '3', scopes })
})

test.each([
  ['in lower case', 'bearer '],
  ['in upper case', 'BEARER '],
  ['in mixed case', 'bEaReR '],
  ['with several spaces after it', 'Bearer   '],
])('the scheme "Bearer" is accepted %s, and spaces after the key are ignored', async (_, scheme) => {
  expect(await authenticate(`${scheme}${teamKey} `, keys)).toMatchObject({ type: 'team' })
})

describe('the WWW-Authenticate header of a 401', () => {
  const message =
    'The bearer token is missing or invalid. ' +
    'Send "Authorization: Bearer <API key>" with an active organization or team key.'
  const withRecord = (record: Partial<KeyRecord>) => async () => `Bearer ${await issue('team', '3', record)}`

  test.each([
    ['no Authorization header', undefined],
    ['null', null],
    ['an empty header', ''],
    ['white space', '   '],
    ['the scheme alone', 'Bearer'],
    ['the scheme and a space', 'Bearer '],
    ['the scheme and white space', 'Bearer  \t\n'],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a key without a scheme', teamKey],
    ['another scheme before "Bearer" and the key', `Basic Bearer ${teamKey}`],
    ['a scheme that begins like Bearer', `Bearerer ${teamKey}`],
  ])('has only the scheme "Bearer" if the call has no bearer token (%s)', async (_, header) => {
    expect(await rejection(authenticate(header, keys))).toMatchObject({
      status: 401,
      code: 'unauthorized',
      message,
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  })

  test.each([
    ['a key that nobody issued', () => `Bearer svc_team_3_${'0'.repeat(64)}`],
    ['a mistyped key', () => `Bearer ${teamKey.slice(0, -1)}${teamKey.endsWith('0') ? '1' : '0'}`],
    ['a key in upper case', () => `Bearer ${teamKey.toUpperCase()}`],
    ['a key without a type', () => 'Bearer svc_3_abcdef'],
    ['a key of another product', () => `Bearer x${teamKey}`],
    ['two tokens', () => `Bearer ${teamKey} ${organizationKey}`],
    ['two headers, which fetch has joined', () => `Bearer ${teamKey}, Bearer ${teamKey}`],
    ['a tab in the token', () => `Bearer x\t${teamKey}`],
    ['an absurdly long key', () => `Bearer svc_team_3_${'a'.repeat(1_000_000)}`],
    ['a revoked key', withRecord({ revokedAt: new Date(0) })],
    ['a key with a revocation date in the future', withRecord({ revokedAt: new Date(8.64e15) })],
    ['a team key with the record of an organization key', withRecord({ type: 'organization' })],
    ['a key whose record names another owner', withRecord({ ownerId: '4' })],
  ])('says "invalid_token" if the token is not an active key (%s)', async (_, header) => {
    const error = await rejection(authenticate(await header(), keys))
    expect(error).toMatchObject({
      status: 401,
      code: 'unauthorized',
      message,
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    })
    expect(JSON.stringify(error) + (error as Error).message).not.toContain(teamKey.slice(-64))
  })
})

test('a key is rejected if the key store returns a record with another hash', async () => {
  const record = { hash: await hashApiKey(organizationKey), type: 'team', ownerId: '3', scopes } as const
  const careless = { findKey: () => record }
  expect(await rejection(authenticate(`Bearer ${teamKey}`, careless))).toMatchObject({ status: 401 })
})

test('a key store is called only with the hash of a well-formed key', async () => {
  const asked: string[] = []
  const spy = {
    findKey(hash: string) {
      asked.push(hash)
      return null
    },
  }
  for (const header of ['Bearer nonsense', 'Basic x', `Bearer ${teamKey} x`]) await rejection(authenticate(header, spy))
  expect(asked).toEqual([])
  await rejection(authenticate(`Bearer ${teamKey}`, spy))
  expect(asked).toEqual([await hashApiKey(teamKey)])
})

test('if the key store fails, the call gets 500 internal_error, not 401', async () => {
  const cause = new Error('connection lost')
  for (const findKey of [
    () => Promise.reject(cause),
    () => {
      throw cause
    },
  ]) {
    expect(await rejection(authenticate(`Bearer ${teamKey}`, { findKey }))).toMatchObject({
      status: 500,
      code: 'internal_error',
      message: 'The API key could not be checked. Send the same call again: that is safe.',
      cause,
    })
  }
})

describe('a record from the key store', async () => {
  const hash = await hashApiKey(teamKey)
  const record = { hash, type: 'team', ownerId: '3', scopes }
  test.each<[what: string, found: unknown, message: RegExp]>([
    [
      'has "owner_id" instead of "ownerId"',
      { hash, type: 'team', owner_id: '3', scopes },
      /"ownerId" must be .* it is undefined$/,
    ],
    ['is an array of records', [record], /"hash" must be .* it is undefined$/],
    [
      'has an owner ID that is a number',
      { ...record, ownerId: 3 },
      /"ownerId" must be .* a string of digits; it is 3$/,
    ],
    ['has a string as its scopes', { ...record, scopes: '["domains:create"]' }, /"scopes" must be an array of scopes/],
    [
      'has an unknown owner type',
      { ...record, type: 'user' },
      /"type" must be "organization" or "team"; it is "user"$/,
    ],
    [
      'has a string as its expiry date',
      { ...record, expiresAt: '2030-01-01' },
      /"expiresAt" must be a Date in or after the year 1, or null; it is "2030/,
    ],
    ['has an invalid date', { ...record, expiresAt: new Date('') }, /"expiresAt" must be .* it is an invalid Date$/],
    [
      'has a revocation date that is a number',
      { ...record, revokedAt: 0 },
      /"revokedAt" must be a Date in or after the year 1, or null; it is 0$/,
    ],
    ['has a hash in upper case', { ...record, hash: hash.toUpperCase() }, /"hash" must be .* in lower case/],
    ['is a string', hash, /^The key record that the key store found must be an object$/],
    ['is the value false', false, /^The key record that the key store found must be an object$/],
  ])('that %s leads to a 500 error whose cause gives the reason', async (_, found, message) => {
    const error = await rejection(authenticate(`Bearer ${teamKey}`, { findKey: () => found as never }))
    expect(error).toMatchObject({ status: 500, code: 'internal_error' })
    expect((error as ApiError).cause).toMatchObject({ message: expect.stringMatching(message) })
  })

  test('is accepted with an unknown scope, such as one that the application defines', async () => {
    const findKey = () => ({ ...record, scopes: ['reports:read'] }) as KeyRecord
    expect(await authenticate(`Bearer ${teamKey}`, { findKey })).toMatchObject({ scopes: ['reports:read'] })
  })

  test('is accepted with extra fields, but undefined instead of a record leads to a 401', async () => {
    const findKey = () => ({ ...record, id: 7, name: 'mine' }) as never
    expect(await authenticate(`Bearer ${teamKey}`, { findKey })).toMatchObject({ teamId: '3' })
    const unknown = { findKey: () => undefined as never }
    expect(await rejection(authenticate(`Bearer ${teamKey}`, unknown))).toMatchObject({ status: 401 })
  })
})

describe('a key', () => {
  const now = Date.UTC(2026, 0, 1)
  beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test.each<[when: string, expiresAt: KeyRecord['expiresAt'], isActive: boolean]>([
    ['without an expiry date is accepted', undefined, true],
    ['whose expiry date is null is accepted', null, true],
    ['that expires in a millisecond is accepted', new Date(now + 1), true],
    ['that expired a millisecond ago is rejected', new Date(now - 1), false],
    ['that expires at this moment is rejected', new Date(now), false],
  ])('%s', async (_, expiresAt, isActive) => {
    const key = await issue('team', '3', { expiresAt })
    const asked = authenticate(`Bearer ${key}`, keys)
    if (isActive) expect(await asked).toMatchObject({ teamId: '3' })
    else expect(await rejection(asked)).toMatchObject({ status: 401, code: 'unauthorized' })
  })
})

test('a misspelled or invalid option is a TypeError that names it, also without a header', async () => {
  for (const header of [undefined, `Bearer ${teamKey}`]) {
    await expect(authenticate(header, keys, { prefx: 'acme' } as never)).rejects.toThrow('The option "prefx" does not')
    await expect(authenticate(header, keys, { prefix: 'a_b' })).rejects.toThrow(TypeError)
  }
})

test('a key with a custom prefix is accepted only if that prefix is configured', async () => {
  const store = createMemoryKeyStore()
  const { key, hash } = await generateApiKey({ type: 'team', id: '3', prefix: 'acme' })
  store.addKey({ hash, type: 'team', ownerId: '3', scopes })
  expect(await authenticate(`Bearer ${key}`, store, { prefix: 'acme' })).toMatchObject({ teamId: '3' })
  expect(await rejection(authenticate(`Bearer ${key}`, store))).toMatchObject({ status: 401 })
})
