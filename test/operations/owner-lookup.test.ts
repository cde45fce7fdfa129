import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOwnerLookup, type DomainStore, type OwnerLookupOptions } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

/** A lookup over a store that a test can make fail, and the number of its queries. */
async function createLookup(domains: Readonly<Record<string, string[]>>, options: OwnerLookupOptions = {}) {
  const store = createStore()
  for (const [teamId, names] of Object.entries(domains)) await save(store, teamId, names)
  const find = vi.spyOn(store, 'find')
  const errors: unknown[] = []
  const lookup = createOwnerLookup(store, { onError: error => errors.push(error), ...options })
  const teamOf = async (host: string) => (await lookup.find(host))?.teamId ?? null
  return { store, find, errors, lookup, teamOf }
}

test('a Host header finds its team, in any spelling, by the name or a wildcard above it', async () => {
  const { teamOf, find } = await createLookup({
    1: ['*.example.com', '8.8.8.8'],
    2: ['xn--bcher-kva.de', 'example.com'],
  })
  const hosts = [
    ...['shop.example.com', 'SHOP.Example.com:8443', 'a.b.example.com.', 'example.com:80', 'xn--bcher-kva.de'],
    ...['Bücher.de:443', '8.8.8.8:80', 'example.org', 'localhost:3000', '', ' ', '[::1]:80', '*.example.com', 'a b'],
  ]
  const teams = ['1', '1', '1', '2', '2', '2', '1', null, null, null, null, null, null, null]
  expect(await Promise.all(hosts.map(teamOf))).toEqual(teams)
  expect(find.mock.calls.flatMap(([{ domains }]) => domains)).not.toContain('localhost')
  expect(await teamOf(undefined as never)).toBe(null)
})

test('an owner is remembered for a minute, and ten seconds that there is none', async () => {
  const { teamOf, find, store } = await createLookup({ 1: ['example.com'] })
  for (const [host, time] of [
    ['example.com', 60_000],
    ['example.org', 10_000],
  ] as const) {
    find.mockClear()
    await teamOf(host)
    await pass(time - 1)
    await teamOf(`${host}:443`)
    expect(find).toHaveBeenCalledTimes(1)
    await pass(1)
    await teamOf(host)
    expect(find).toHaveBeenCalledTimes(2)
  }
  await save(store, '2', ['example.org'])
  await pass(10_000)
  expect(await teamOf('example.org')).toBe('2')
})

test('simultaneous questions about a host are one query; a wildcard then answers for all hosts below it', async () => {
  const { teamOf, find } = await createLookup({ 1: ['*.example.com'] })
  await Promise.all(Array.from({ length: 50 }, (_, port) => teamOf(`a.example.com:${port}`)))
  expect(find).toHaveBeenCalledTimes(1)
  await Promise.all(Array.from({ length: 50 }, (_, index) => teamOf(`n${index}.example.com`)))
  expect(find).toHaveBeenCalledTimes(1)
})

test('a flood of unknown hosts displaces no known one, and neither does one below a wildcard', async () => {
  const { teamOf, find } = await createLookup({ 1: ['known.com', '*.wild.com'] }, { maxRemembered: 3 })
  await teamOf('known.com')
  for (let index = 0; index < 20; index += 1) await Promise.all([teamOf(`u${index}.com`), teamOf(`x${index}.wild.com`)])
  find.mockClear()
  expect(await teamOf('known.com')).toBe('1')
  await Promise.all(['u17.com', 'u18.com', 'u19.com'].map(teamOf))
  expect(find).not.toHaveBeenCalled()
  await teamOf('u16.com')
  expect(find).toHaveBeenCalledTimes(1)
})

test('the registration that was not used for the longest time makes room for another', async () => {
  const { teamOf, find } = await createLookup({ 1: ['a.com', 'b.com', 'c.com'] }, { maxRemembered: 2 })
  for (const host of ['a.com', 'b.com', 'a.com', 'c.com']) await teamOf(host)
  find.mockClear()
  await Promise.all(['a.com', 'c.com'].map(teamOf))
  expect(find).not.toHaveBeenCalled()
  await teamOf('b.com')
  expect(find).toHaveBeenCalledTimes(1)
})

test('while the database is away or hangs, what was known stays, and each failure is reported', async () => {
  const { teamOf, find, errors } = await createLookup({ 1: ['example.com', '*.example.org'] })
  const known: [host: string, team: string | null][] = [
    ['example.com', '1'],
    ['a.example.org', '1'],
    ['free.com', null],
  ]
  for (const [host, team] of known) expect(await teamOf(host)).toBe(team)
  await pass(3_600_000)
  for (const fail of [() => Promise.reject(new Error('down')), () => new Promise<never>(() => {})]) {
    find.mockImplementation(fail)
    const answers = Promise.all(known.map(([host]) => teamOf(host)))
    await pass(5000)
    expect(await answers).toEqual(known.map(([, team]) => team))
    const failures = errors.length
    // The next questions do not wait for a store that is down.
    expect(await Promise.all(known.map(([host]) => teamOf(host)))).toEqual(known.map(([, team]) => team))
    expect(errors.splice(0)).toHaveLength(failures)
    expect(failures).toBe(3)
    const unknown = rejection(teamOf('unknown.com'))
    await pass(5000)
    expect(String(await unknown)).toMatch(/down|No response within the time limit of 5000 ms/)
    errors.length = 0
    await pass(10_000)
  }
  find.mockRestore()
  expect(await teamOf('unknown.com')).toBe(null)
})

test('a database that hangs delays a known host by a quarter of a second, once in ten seconds', async () => {
  const { teamOf, find } = await createLookup({ 1: ['example.com', '*.example.org'] })
  const hosts = ['example.com', 'a.example.org']
  await Promise.all(hosts.map(teamOf))
  await pass(60_000)
  find.mockImplementation(() => new Promise<never>(() => {}))
  const answered: string[] = []
  for (const host of hosts) teamOf(host).then(team => answered.push(`${host} ${team}`))
  await pass(249)
  expect(answered).toEqual([])
  await pass(1)
  expect(answered).toEqual(['example.com 1', 'a.example.org 1'])
  await pass(9000)
  find.mockClear()
  expect(await Promise.all(hosts.map(teamOf))).toEqual(['1', '1'])
  expect(find).not.toHaveBeenCalled()
})

test('what a slow database says about a known host counts once it is there', async () => {
  const { teamOf, find, store } = await createLookup({ 1: ['example.com'] })
  await teamOf('example.com')
  await store.release('1', ['example.com'])
  await save(store, '2', ['example.com'])
  await pass(60_000)
  const now = await store.find({ teamId: '', domains: ['example.com'], bases: [] })
  find.mockImplementationOnce(() => new Promise(resolve => setTimeout(resolve, 2000, now)))
  const early = teamOf('example.com')
  await pass(250)
  expect(await early).toBe('1')
  await pass(1750)
  expect(await teamOf('example.com')).toBe('2')
})

test('5,000 made-up hosts at once are nine queries of at most 1,000, four at a time', async () => {
  const { teamOf, find } = await createLookup({})
  const store = createStore()
  await save(store, '1', ['example.com'])
  let running = 0
  let most = 0
  const sizes: number[] = []
  find.mockImplementation(async question => {
    most = Math.max(most, ++running)
    sizes.push(new Set(question.domains.filter(domain => !domain.startsWith('*'))).size)
    await new Promise(resolve => setTimeout(resolve, 100))
    running -= 1
    return store.find(question)
  })
  const flood = Promise.all(Array.from({ length: 5000 }, (_, index) => teamOf(`made-up-${index}.com`)))
  const customer = teamOf('example.com')
  await pass(300)
  expect(await customer).toBe('1')
  expect(new Set(await flood)).toEqual(new Set([null]))
  expect([sizes, most]).toEqual([[1, 1, 1, 1, 1000, 1000, 1000, 1000, 997], 4])
})

test('while the database hangs, each host waits for the time limit, also in the line', async () => {
  const { teamOf, find, errors } = await createLookup({})
  find.mockImplementation(() => new Promise<never>(() => {}))
  const flood = Array.from({ length: 20 }, (_, index) => rejection(teamOf(`made-up-${index}.com`)))
  await pass(5000)
  for (const error of await Promise.all(flood)) expect(String(error)).toContain('time limit of 5000 ms')
  expect(errors).toHaveLength(4)
  await pass(5000)
  expect(vi.getTimerCount()).toBe(0)
})

test('if 10,000 hosts wait, the next one fails at once, unless its owner is known', async () => {
  const { teamOf, find } = await createLookup({ 1: ['example.com'] })
  await teamOf('example.com')
  await pass(60_000)
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  find.mockImplementation(() => answered.then(() => ({ registrations: [], below: [] })))
  const flood = Array.from({ length: 10_004 }, (_, index) => teamOf(`made-up-${index}.com`))
  expect(String(await rejection(teamOf('one-more.com')))).toContain('10000 other hosts wait')
  expect(await teamOf('example.com')).toBe('1')
  answer()
  expect(new Set(await Promise.all(flood))).toEqual(new Set([null]))
  expect(find).toHaveBeenCalledTimes(1 + 4 + 10)
  expect(await teamOf('one-more.com')).toBe(null)
})

test('forget makes a release and a registration visible at once, also below a wildcard', async () => {
  const { teamOf, lookup, store } = await createLookup({ 1: ['example.com'] })
  expect(await Promise.all(['example.com', 'a.example.com', 'b.example.com'].map(teamOf))).toEqual(['1', null, null])
  await store.release('1', ['example.com'])
  await save(store, '2', ['example.com', '*.example.com'])
  expect(await Promise.all(['example.com', 'a.example.com'].map(teamOf))).toEqual(['1', null])
  lookup.forget([{ domain: 'example.com' }, { domain: '*.example.com' }])
  expect(await Promise.all(['example.com', 'a.example.com', 'b.example.com'].map(teamOf))).toEqual(['2', '2', '2'])
})

test('an answer that is older than a change is not remembered, and nobody who asks later gets it', async () => {
  const { teamOf, lookup, store, find } = await createLookup({ 1: ['example.com'] })
  const before = createStore()
  await save(before, '1', ['example.com'])
  let answer = () => {}
  // Reads before the release, and answers after it.
  find.mockImplementationOnce(async question => {
    const found = await before.find(question)
    await new Promise<void>(resolve => {
      answer = resolve
    })
    return found
  })
  const early = teamOf('example.com')
  await store.release('1', ['example.com'])
  lookup.forget([{ domain: 'example.com' }])
  const late = teamOf('example.com')
  expect(await late).toBe(null)
  answer()
  expect(await early).toBe('1')
  expect(await teamOf('example.com')).toBe(null)
})

test('what replaces a registration is known alone, so an outage does not bring back the former one', async () => {
  const { teamOf, store, find } = await createLookup({ 1: ['*.example.com'] })
  expect(await teamOf('a.example.com')).toBe('1')
  await store.release('1', ['*.example.com'])
  await save(store, '2', ['a.example.com'])
  await pass(60_000)
  expect(await teamOf('a.example.com')).toBe('2')
  await store.release('2', ['a.example.com'])
  await pass(60_000)
  expect(await teamOf('a.example.com')).toBe(null)
  await pass(10_000)
  find.mockRejectedValue(new Error('down'))
  expect(await teamOf('a.example.com')).toBe(null)
})

test.each<[string, object]>([
  ['ownerTime', { ownerTime: 0 }],
  ['absenceTime', { absenceTime: '10' }],
  ['maxRemembered', { maxRemembered: 0 }],
  ['timeLimit', { timeLimit: Number.NaN }],
  ['onError', { onError: true }],
  ['ttl', { ttl: 60 }],
])('an invalid or unknown option %s is a TypeError that names it', (name, options) => {
  expect(() => createOwnerLookup(createStore(), options)).toThrow(`"${name}"`)
})

test('a store without find is a TypeError', () => {
  const { find: _, ...store } = createStore()
  expect(() => createOwnerLookup(store as DomainStore)).toThrow('no method "find"')
})
