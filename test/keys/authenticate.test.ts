import { describe, expect, test } from 'vitest'
import { authenticate, createMemoryKeyStore, generateApiKey, hashApiKey, type KeyRecord } from '../../src/index.ts'
import { createKeys, rejection, scopes } from '../fixtures.ts'

const { keys, issue } = createKeys()
const organizationKey = await issue('organization', '10')
const teamKey = await issue('team', '3')

test('an organization key and a team key tell their owner and scopes', async () => {
  expect(await authenticate(`Bearer ${organizationKey}`, keys)).toEqual({
    type: 'organization',
    organizationId: '10',
    scopes,
  })
  expect(await authenticate(`Bearer ${teamKey}`, keys)).toEqual({ type: 'team', teamId: '3', scopes })
})

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be written %s', async scheme => {
  expect(await authenticate(`${scheme} ${teamKey}`, keys)).toMatchObject({ type: 'team' })
})

test('more than one space may follow the scheme', async () => {
  expect(await authenticate(`Bearer   ${teamKey} `, keys)).toMatchObject({ type: 'team' })
})

describe('401 unauthorized', () => {
  const message =
    'The bearer token is missing or invalid. ' +
    'Send "Authorization: Bearer <API key>" with an active organization or team key.'
  const revoked = issue('team', '3', { revokedAt: new Date(0) })
  const revokedLater = issue('team', '3', { revokedAt: new Date(8.64e15) })

  /** The record of a key does not agree with what the key says of itself. */
  async function disagreeing(record: Partial<KeyRecord>): Promise<string> {
    const { key, hash } = await generateApiKey({ type: 'team', id: '3' })
    keys.addKey({ hash, type: 'team', ownerId: '3', scopes, ...record })
    return key
  }

  test.each([
    ['no header', undefined],
    ['null', null],
    ['an empty header', ''],
    ['white space', '   '],
    ['the scheme alone', 'Bearer'],
    ['the scheme and a space', 'Bearer '],
    ['the scheme and white space', 'Bearer  \t\n'],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a key without a scheme', teamKey],
    ['another scheme that holds a bearer token', `Basic Bearer ${teamKey}`],
    ['a scheme that begins like Bearer', `Bearerer ${teamKey}`],
  ])('%s: no token was sent, and the challenge names the scheme only', async (_, header) => {
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
    ['a key of the old form, without a type', () => 'Bearer svc_3_abcdef'],
    ['a key of another product', () => `Bearer x${teamKey}`],
    ['two tokens', () => `Bearer ${teamKey} ${organizationKey}`],
    ['two headers, as joined by fetch', () => `Bearer ${teamKey}, Bearer ${teamKey}`],
    ['a tab instead of a space', () => `Bearer x\t${teamKey}`],
    ['an absurdly long key', () => `Bearer svc_team_3_${'a'.repeat(1_000_000)}`],
    ['a revoked key', async () => `Bearer ${await revoked}`],
    ['a key that has a date of revocation to come', async () => `Bearer ${await revokedLater}`],
    [
      'a team key whose record is an organization’s',
      async () => `Bearer ${await disagreeing({ type: 'organization' })}`,
    ],
    ['a key whose record names another owner', async () => `Bearer ${await disagreeing({ ownerId: '4' })}`],
  ])('%s: the challenge says that the token is invalid', async (_, header) => {
    const error = await rejection(authenticate(await header(), keys))
    expect(error).toMatchObject({
      status: 401,
      code: 'unauthorized',
      message,
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    })
    expect(JSON.stringify(error) + (error as Error).message).not.toContain(teamKey.slice(-64))
  })

  test('a store that finds a record of another hash is not believed', async () => {
    const record = { hash: await hashApiKey(teamKey), type: 'team', ownerId: '3', scopes } as const
    const careless = { findKey: () => ({ ...record, hash: record.hash.toUpperCase() }) }
    expect(await rejection(authenticate(`Bearer ${teamKey}`, careless))).toMatchObject({ status: 401 })
  })
})

test('a key store learns the hash of a well-formed key, and of nothing else', async () => {
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

test('a key store that fails makes 500 internal_error, not 401', async () => {
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
      message: 'The API key could not be checked. Try again later.',
      cause,
    })
  }
})

test('the prefix is the host’s choice', async () => {
  const store = createMemoryKeyStore()
  const { key, hash } = await generateApiKey({ type: 'team', id: '3', prefix: 'acme' })
  store.addKey({ hash, type: 'team', ownerId: '3', scopes })
  expect(await authenticate(`Bearer ${key}`, store, { prefix: 'acme' })).toMatchObject({ teamId: '3' })
  expect(await rejection(authenticate(`Bearer ${key}`, store))).toMatchObject({ status: 401 })
})

test('adding a record with the same hash replaces it', async () => {
  const key = await issue('team', '3')
  const hash = await hashApiKey(key)
  keys.addKey({ hash, type: 'team', ownerId: '3', scopes, revokedAt: new Date() })
  expect(await rejection(authenticate(`Bearer ${key}`, keys))).toMatchObject({ status: 401 })
})
