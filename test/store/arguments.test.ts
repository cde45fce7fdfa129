import { beforeAll, expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import type { Registration } from '../../src/rules/registration.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'

// All bundled stores check their arguments with the same code.
const store = createMemoryStore({ synchronize() {} })
beforeAll(async () => {
  await save(store, '1', ['one.com'])
  await save(store, '2', ['two.com'])
})

const list = async (...args: unknown[]) => store.list(...(args as []))
const sweep = async (...args: unknown[]) => store.synchronizePending(...(args as []))
const release = async (...args: unknown[]) => store.release(...(args as [string, string[]]))

test('`list` accepts valid options, or no options', async () => {
  expect(toDomains(await list({ teamId: '2', after: undefined, limit: 1 }))).toEqual(['two.com'])
  expect(toDomains(await list())).toEqual(['one.com', 'two.com'])
  expect(toDomains(await list(undefined))).toEqual(['one.com', 'two.com'])
  expect(await list({ limit: 0 })).toEqual([])
  expect(toDomains(await list({ limit: 1000, order: 'newest' }))).toEqual(['two.com', 'one.com'])
})

test('`list` and `listPending` accept a cursor in capitals', async () => {
  const [first] = await store.list({ limit: 1 })
  const after = String(first?.domainId.toUpperCase())
  for (const found of [await store.list({ after }), await store.listPending({ after })])
    expect(found.map(({ domain }) => domain)).toEqual(['two.com'])
})

test.each([
  [
    'a misspelled "teamId", because ignoring it would list the registrations of all teams',
    { teamID: '2' },
    '"teamID" does not exist; there are "teamId", ',
  ],
  ['an undefined team ID', { teamId: undefined }, '"teamId" must be the ID of a team, a string; it is undefined'],
  ['a team ID that is a number', { teamId: 2 }, '"teamId" must be the ID of a team, a string; it is 2'],
  ['null as a team ID', { teamId: null }, '"teamId" must be the ID of a team'],
  [
    'a limit that is not an integer',
    { limit: 0.5 },
    '"limit" must be an integer from 0 to 1000; eachRegistration() lists more, page by page; it is 0.5',
  ],
  ['a limit that is not a number', { limit: Number.NaN }, 'it is NaN'],
  ['a negative limit', { limit: -1 }, 'it is -1'],
  ['a limit that is too high', { limit: 1001 }, 'it is 1001'],
  ['a cursor that is not an ID', { after: 'one.com' }, '"after" must be the "domainId" of the last registration'],
  ['a cursor that is not a string', { after: 1 }, '"after" must be the "domainId" of the last registration'],
  ['an unknown order', { order: 'up' }, '"order" must be "oldest" or "newest"'],
  ['an empty order', { order: '' }, '"order" must be "oldest" or "newest"'],
  [
    'the option "order" together with "below"',
    { below: 'one.com', order: 'newest' },
    '"order" must be "oldest" or "newest", and not with',
  ],
  ['a domain that is not a hostname', { domain: 'one_com' }, '"domain" must be a hostname'],
  ['a public suffix in "below"', { below: 'com' }, '"below" must be a hostname'],
  ['a wildcard in "below"', { below: ' *.one.com' }, '"below" must be a hostname that is not a wildcard; it is'],
  ['both "domain" and "below"', { below: 'one.com', domain: 'a.one.com' }, '"domain" and "below" cannot be combined'],
  ['an ID as the cursor of a list ordered by name', { below: 'one.com', after: '1' }, '"after" must be'],
  ['a team ID where options are required', '2', 'The options must be an object'],
  ['null where options are required', null, 'The options must be an object'],
])('`list` rejects %s', async (_, wrong, message) => {
  await expect(list(wrong)).rejects.toThrow(TypeError)
  await expect(list(wrong)).rejects.toThrow(message)
})

test.each([
  ['a negative limit', { limit: -1 }, '"limit" must be an integer from 0 to 1000; it is -1'],
  ['a limit above 1000', { limit: 1001 }, '"limit" must be an integer from 0 to 1000; it is 1001'],
  ['a misspelled "onError"', { onerror: () => {} }, '"onerror" does not exist; there are '],
  [
    'an "onError" that is not a function',
    { onError: 'log' },
    '"onError" must be a function that takes an error and a change; it is "log"',
  ],
  ['a signal that is not an AbortSignal', { signal: {} }, '"signal" must be an AbortSignal; it is object'],
  ['a number where options are required', 10, 'The options must be an object'],
])('a sweep rejects %s', async (_, wrong, message) => {
  await expect(sweep(wrong)).rejects.toThrow(TypeError)
  await expect(sweep(wrong)).rejects.toThrow(message)
})

test.each([
  ['a team ID that is a number', [1, ['one.com']], 'The ID of a team must be a string; it is 1'],
  [
    'a string where an array is required',
    ['1', 'one.com'],
    'The domains must be an array of strings; they are "one.com"',
  ],
  ['null where an array is required', ['1', null], 'The domains must be an array of strings; they are null'],
  [
    'registrations where their names are required',
    ['1', [{ domain: 'one.com' }]],
    'The domains must be an array of strings',
  ],
  ['a call without arguments', [], 'The ID of a team must be a string; it is undefined'],
  [
    '1001 names',
    ['1', Array(1001).fill('one.com')],
    'At most 1000 domains are accepted at once; there are 1001. Split them',
  ],
])('`release` rejects %s, and releases nothing', async (_, wrong, message) => {
  await expect(release(...wrong)).rejects.toThrow(TypeError)
  await expect(release(...wrong)).rejects.toThrow(message)
  expect(toDomains(await list())).toEqual(['one.com', 'two.com'])
})

test('`count` rejects an undefined team ID, which would count all teams', async () => {
  const count = async () => store.count({ teamId: undefined } as object)
  await expect(count()).rejects.toThrow('"teamId" must be the ID of a team, a string; it is undefined')
})

test('an error message quotes the start of a long string and gives the length of the rest', async () => {
  const shown = `they are "${'x'.repeat(200)}" and 999800 more characters`
  await expect(release('1', 'x'.repeat(1_000_000) as never)).rejects.toThrow(shown)
})

test('`list` and `release` accept names that only an older suffix list allowed, in any spelling', async () => {
  await save(store, '1', [{ domain: '*.github.io', registrableDomain: 'github.io' }])
  expect(toDomains(await list({ domain: ' *.GitHub.io. ' }))).toEqual(['*.github.io'])
  expect(toDomains(await list({ below: 'github.io' }))).toEqual(['*.github.io'])
  expect(toDomains(await release('1', ['*.GitHub.IO', '*.github.io.']))).toEqual(['*.github.io'])
  expect(await store.count({ teamId: '1' })).toBe(1)
})

test.each([
  [
    'a cursor that is not an ID',
    { after: 'one.com' },
    '"after" must be the "domainId" of the last change of the previous page',
  ],
  ['a limit that is a string', { limit: '1' }, '"limit" must be an integer from 0 to 1000; it is "1"'],
  ['the unknown option "teamId"', { teamId: '1' }, '"teamId" does not exist; there are "after", "limit"'],
])('`listPending` rejects %s', async (_, wrong, message) => {
  const listPending = async () => store.listPending(wrong as object)
  await expect(listPending()).rejects.toThrow(TypeError)
  await expect(listPending()).rejects.toThrow(message)
})

test('`retryPending` rejects more than a thousand IDs', async () => {
  await expect(store.retryPending({ domainIds: Array(1001).fill('') })).rejects.toThrow('an array of at most 1000')
  expect(await store.retryPending({ domainIds: Array(1000).fill('') })).toBe(0)
})

test('`retryPending` and `settlePending` count a change once, even if its ID is passed twice', async () => {
  const store = createMemoryStore({ onError() {}, synchronize: () => Promise.reject(new Error('refused')) })
  const saved = await save(store, '1', ['one.com'])
  await rejection(Promise.resolve(store.synchronize?.(saved)))
  const [{ domainId }] = saved as [Registration]
  const domainIds = [domainId, domainId.toUpperCase()]
  expect([await store.retryPending({ domainIds }), await store.settlePending({ domainIds })]).toEqual([1, 1])
})

test('`listPending` lists, and a sweep pushes, at most a thousand changes by default', async () => {
  const store = createMemoryStore({ synchronize() {} })
  await store.synchronize?.(await save(store, '1', manyDomains(1001)))
  await store.release('1', manyDomains(1000))
  await store.release('1', manyDomains(1001).slice(1000))
  expect((await store.listPending()).length).toBe(1000)
  expect(await store.synchronizePending()).toEqual({ synchronized: 1000, failed: 0 })
})
