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

test('a label of up to 200 characters, a hint, and null in place of either are accepted', () => {
  for (const changes of [{ label: 'x'.repeat(200) }, { label: null, hint: null }])
    expect(() => add({ ...record, ...changes })).not.toThrow()
})

test.each<[what: string, changes: object, message: RegExp]>([
  ['a key as its hash', { hash: 'svc_team_3_00' }, /"hash" must be the SHA-256 of the key.* never the key itself/],
  ['a hash that is too long', { hash: `${hash}f` }, /"hash" must be/],
  ['an array as its hash', { hash: [hash] }, /"hash" must be/],
  ['an unknown owner type', { type: 'user' }, /"type" must be "organization" or "team"; it is "user"/],
  ['a number as its owner ID', { ownerId: 3 }, /"ownerId" must be the owner's ID, a string of digits; it is 3/],
  ['a letter before its owner ID', { ownerId: 'x3' }, /"ownerId" must be/],
  ['a letter after its owner ID', { ownerId: '3x' }, /"ownerId" must be/],
  ['an empty owner ID', { ownerId: '' }, /"ownerId" must be/],
  ['a string as its scopes', { scopes: 'domains:create' }, /"scopes" must be an array of scopes/],
  ['a number among its scopes', { scopes: [...scopes, 7] }, /"scopes" must be/],
  [
    'an unknown scope',
    { scopes: ['domain:create'] },
    /"scopes" must be .* "domains:create", "domains:delete", "domains:read"/,
  ],
  [
    'a string as its revocation date',
    { revokedAt: '2026-01-01' },
    /"revokedAt" must be a Date in or after the year 1, or null/,
  ],
  [
    'an invalid Date as its expiry date',
    { expiresAt: new Date('never') },
    /"expiresAt" must be a Date in or after the year 1, or null; it is an invalid Date$/,
  ],
  [
    'a number as its creation date',
    { createdAt: 7 },
    /"createdAt" must be a Date in or after the year 1, or null; it is 7$/,
  ],
  ['a label of 201 characters', { label: 'x'.repeat(201) }, /"label" must be a string of at most 200 characters/],
  [
    'a key in its label',
    { label: `mine: svc_team_42_${hash}` },
    /"label" must be .* without a key in it.* not shown here$/,
  ],
  [
    'a key as its hint',
    { hint: `svc_team_3_${hash}` },
    /"hint" must be the hint that generateApiKey returns.* not shown here$/,
  ],
  ['an extra character after its hint', { hint: 'svc_team_3_…abcd!' }, /"hint" must be/],
  ['a hyphen instead of the ellipsis in its hint', { hint: 'svc_team_3_-abcd' }, /"hint" must be/],
  ['a space before its hint', { hint: ' svc_team_3_…abcd' }, /"hint" must be/],
  ['a misspelled "expiresAt"', { expireAt: new Date() }, /The field "expireAt" does not exist/],
])('a key record with %s is rejected', (_, changes, message) => {
  expect(() => add({ ...record, ...changes })).toThrow(message)
})

test.each<[what: string, changes: unknown, message: RegExp]>([
  ['a number', 7, /^The changes must be an object$/],
  ['an invalid expiry date', { expiresAt: new Date('soon') }, /"expiresAt" must be .* it is an invalid Date$/],
  ...[-8.64e15, Date.parse('0000-12-31T23:59:59.999Z')].map((time): [string, unknown, RegExp] => [
    `the expiry date ${new Date(time).toISOString()}, before the year 1`,
    { expiresAt: new Date(time) },
    /"expiresAt" must be a Date in or after the year 1, or null; it is /,
  ]),
  [
    'an unknown scope',
    { scopes: ['domain:read'] },
    /"scopes" must be an array of scopes, each one of "domains:create", /,
  ],
  ['a sparse array as scopes', { scopes: new Array(2) }, /"scopes" must be an array/],
  [
    'a lone surrogate in a label',
    { label: 'a\ud800b' },
    /"label" must be .*, in valid Unicode and without a key in it/,
  ],
  ['a label that is a key', { label: 'svc_team_3_ab' }, /"label" must be .* not shown here$/],
])('an update of a key with %s is rejected', (_, changes, message) => {
  expect(() => createMemoryKeyStore().updateKey(hash, changes as never)).toThrow(message)
})

test.each<[owner: unknown, message: RegExp]>([
  ['3', /^The owner must be an object$/],
  [{ type: 'user', ownerId: '3' }, /"type" must be/],
])('the owner %j is rejected', (owner, message) => {
  expect(() => createMemoryKeyStore().listKeys(owner as never)).toThrow(message)
})
