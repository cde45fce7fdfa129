import { expect, test } from 'vitest'
import { createMemoryKeyStore } from '../../src/index.ts'
import { scopes } from '../fixtures.ts'

const hash = 'f'.repeat(64)
const record = { hash, hint: 'svc_team_3_…ffff', type: 'team', ownerId: '3', scopes }
const add = (given: unknown) => createMemoryKeyStore().addKey(given as never)

test('a key record that is not an object is rejected', () => {
  add(record)
  expect(() => add(null)).toThrow(/^The key record must be an object$/)
})

test('a label of up to 200 characters, a hint, and null for either are accepted', () => {
  for (const changes of [{ label: 'x'.repeat(200) }, { label: null, hint: null }])
    expect(() => add({ ...record, ...changes })).not.toThrow()
})

test.each<[field: string, changes: object, message: RegExp]>([
  ['hash', { hash: 'svc_team_3_00' }, /"hash" must be the SHA-256 of the key.* never the key itself/],
  ['hash', { hash: `${hash}f` }, /"hash" must be/],
  ['hash', { hash: [hash] }, /"hash" must be/],
  ['type', { type: 'user' }, /"type" must be "organization" or "team"; it is "user"/],
  ['ownerId', { ownerId: 3 }, /"ownerId" must be the owner's ID, a string of digits; it is 3/],
  ['ownerId', { ownerId: 'x3' }, /"ownerId" must be/],
  ['ownerId', { ownerId: '3x' }, /"ownerId" must be/],
  ['ownerId', { ownerId: '' }, /"ownerId" must be/],
  ['scopes', { scopes: 'domains:create' }, /"scopes" must be an array of scopes/],
  ['scopes', { scopes: [...scopes, 7] }, /"scopes" must be/],
  ['scopes', { scopes: ['domain:create'] }, /"scopes" must be .* "domains:create", "domains:delete", "domains:read"/],
  ['revokedAt', { revokedAt: '2026-01-01' }, /"revokedAt" must be a Date in or after the year 1, or null/],
  [
    'expiresAt',
    { expiresAt: new Date('never') },
    /"expiresAt" must be a Date in or after the year 1, or null; it is an invalid Date$/,
  ],
  ['createdAt', { createdAt: 7 }, /"createdAt" must be a Date in or after the year 1, or null; it is 7$/],
  ['label', { label: 'x'.repeat(201) }, /"label" must be a string of at most 200 characters/],
  ['label', { label: `mine: svc_team_42_${hash}` }, /"label" must be .* without a key in it.* not shown here$/],
  ['hint', { hint: `svc_team_3_${hash}` }, /"hint" must be the hint that generateApiKey returns.* not shown here$/],
  ['hint', { hint: 'svc_team_3_…abcd!' }, /"hint" must be/],
  ['hint', { hint: 'svc_team_3_-abcd' }, /"hint" must be/],
  ['hint', { hint: ' svc_team_3_…abcd' }, /"hint" must be/],
  ['expireAt', { expireAt: new Date() }, /The field "expireAt" does not exist/],
])('a key record with an invalid field "%s" is rejected', (_, changes, message) => {
  expect(() => add({ ...record, ...changes })).toThrow(message)
})
