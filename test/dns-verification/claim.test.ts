import { describe, expect, test } from 'vitest'
import { ClaimError, type ClaimOptions, createDnsVerification } from '../../src/dns-verification/index.ts'
import { createMemoryStore, type DomainStore, registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection, team1, teams } from '../fixtures.ts'
import { type Reply, txt } from './dns-server.ts'
import { serveRecords } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const { record } = createDnsVerification({ label, secret })

/** A verification over records that teams have added, and other replies. */
async function serve(
  proofs: readonly (readonly [teamId: string, domain: string])[],
  replies: Record<string, Reply> = {},
) {
  const records = await Promise.all(proofs.map(([teamId, domain]) => record(teamId, domain)))
  const names = [...new Set(records.map(({ name }) => name))]
  const texts = names.map(name => {
    const values = records.filter(each => each.name === name).map(({ value }) => value)
    return [name, txt(name, ...values)] as const
  })
  const server = await serveRecords({ ...Object.fromEntries(texts), ...replies })
  return createDnsVerification({ label, secret, servers: [server.address], onError() {} })
}

const ownerOf = async (store: DomainStore, domain: string) => {
  const found = await store.find?.({ teamId: '', domains: [domain], bases: [] })
  return found?.registrations[0]?.teamId
}

test('a claim moves what a wildcard overlaps with from a team without proof, which frees the way for it', async () => {
  const store = createStore()
  await save(store, '2', ['www.example.org'])
  const { claim } = await serve([['1', 'example.org']])
  const [{ domainId: formerId = '' } = {}] = await store.list()
  const [result] = await claim(store, '1', ['*.Example.org'])
  expect(result).toEqual({
    hostname: '*.Example.org',
    status: 'moved',
    registrations: [
      {
        domain: 'www.example.org',
        from: '2',
        formerId,
        claimant: { domain: 'www.example.org', status: 'verified', at: `${label}.example.org`, secret: 0 },
        status: 'moved',
        domainId: expect.any(String),
      },
    ],
  })
  expect(await ownerOf(store, 'www.example.org')).toBe('1')
  await store.release('1', ['www.example.org'])
  const { data } = await registerDomains(team1, { domains: ['*.example.org'] }, store)
  expect(data.totals.created).toBe(1)
})

test('a wildcard in the way moves only to a team that can prove its base', async () => {
  for (const [domain, status, owner] of [
    ['www.example.org', 'kept', '2'],
    ['example.org', 'moved', '1'],
  ] as const) {
    const store = createStore()
    await save(store, '2', ['*.example.org'])
    const { claim } = await serve([['1', domain]])
    expect(await claim(store, '1', ['www.example.org'])).toMatchObject([{ status }])
    expect(await ownerOf(store, '*.example.org')).toBe(owner)
  }
})

const servfail = { [`${label}.example.org`]: { rcode: 'SERVFAIL' } }
test.each<[string, Parameters<typeof serve>, string]>([
  ['neither can prove it', [[]], 'not_verified'],
  ['only the other team can prove it', [[['2', 'example.org']]], 'not_verified'],
  [
    'both can prove it',
    [
      [
        ['1', 'example.org'],
        ['2', 'example.org'],
      ],
    ],
    'both_verified',
  ],
  [
    'the other team can prove it below',
    [
      [
        ['1', 'example.org'],
        ['2', 'www.example.org'],
      ],
    ],
    'both_verified',
  ],
  ['the zone does not answer', [[], servfail], 'dns_unreachable'],
  [
    'the zone does not answer about the other team',
    [[['1', 'example.org']], { [`${label}.www.example.org`]: { rcode: 'SERVFAIL' } }],
    'dns_unreachable',
  ],
])('nothing moves if %s, and the result says so', async (_, served, reason) => {
  const store = createStore()
  await save(store, '2', ['www.example.org'])
  const { claim } = await serve(...served)
  const [result] = await claim(store, '1', ['www.example.org'])
  expect(result).toMatchObject({ status: 'kept', registrations: [{ status: 'kept', from: '2', reason }] })
  expect(await ownerOf(store, 'www.example.org')).toBe('2')
})

test('names that are free, the own ones, and strings that are no hostnames need no proof and no query', async () => {
  const store = createStore()
  await save(store, '1', ['own.example.com', '8.8.4.4'])
  await save(store, '2', ['8.8.8.8'])
  const { claim } = await serve([])
  const hostnames = ['free.com', 'own.example.com', '*.example.com', 'localhost', '8.8.8.8', '8.8.4.4']
  const results = await claim(store, '1', hostnames)
  expect(results.map(({ hostname, status }) => [hostname, status])).toEqual([
    ['free.com', 'free'],
    ['own.example.com', 'free'],
    ['*.example.com', 'free'],
    ['localhost', 'invalid'],
    ['8.8.8.8', 'kept'],
    ['8.8.4.4', 'free'],
  ])
  expect(results[4]?.registrations).toMatchObject([{ reason: 'not_verifiable' }])
})

test('what moves and what stays below one wildcard, of several teams, is judged name by name', async () => {
  const store = createStore()
  await save(store, '2', ['a.example.org', 'b.example.org', '*.c.example.org'])
  await save(store, '3', ['d.example.org', 'example.org'])
  await save(store, '1', ['e.example.org'])
  const { claim } = await serve([
    ['1', 'example.org'],
    ['2', 'b.example.org'],
  ])
  const [result] = await claim(store, '1', ['*.example.org'])
  expect(result?.status).toBe('kept')
  expect(result?.registrations.map(({ domain, status }) => [domain, status]).sort()).toEqual([
    ['*.c.example.org', 'moved'],
    ['a.example.org', 'moved'],
    ['b.example.org', 'kept'],
    ['d.example.org', 'moved'],
  ])
  expect(await ownerOf(store, 'example.org')).toBe('3')
  expect(await store.count({ teamId: '1' })).toBe(4)
})

test('a limit of the claiming team fails the claim, and nothing moves', async () => {
  const store = createMemoryStore({ teams: [{ ...teams[0], maxDomains: 1 }, teams[1]] })
  await save(store, '2', ['a.example.org', 'b.example.org'])
  const { claim } = await serve([['1', 'example.org']])
  expect(await rejection(claim(store, '1', ['*.example.org']))).toMatchObject({ code: 'domain_limit_reached' })
  expect(await store.count({ teamId: '2' })).toBe(2)
})

test('a registration that is released during the claim does not move, and no other one in its place', async () => {
  const store = createStore()
  await save(store, '2', ['www.example.org'])
  const { claim } = await serve([['1', 'example.org']])
  const { transfer } = store
  if (!transfer) throw new Error('The store has no transfer')
  const busy: DomainStore = {
    ...store,
    async transfer(request) {
      await store.release('2', ['www.example.org'])
      await save(store, '2', ['www.example.org'])
      return transfer(request)
    },
  }
  expect(await claim(busy, '1', ['www.example.org'])).toMatchObject([{ registrations: [{ reason: 'gone' }] }])
  expect(await ownerOf(store, 'www.example.org')).toBe('2')
})

describe('below a wildcard with more than 1,000 names', () => {
  const many = (count: number, suffix = '') =>
    Array.from({ length: count }, (_, index) => `n${`${index}`.padStart(4, '0')}${suffix}.example.org`)
  const saveMany = async (store: ReturnType<typeof createStore>, teamId: string, domains: readonly string[]) => {
    for (let start = 0; start < domains.length; start += 100)
      await save(store, teamId, domains.slice(start, start + 100))
  }

  test('one name of another team among 1,000 own ones is found', async () => {
    const store = createStore()
    await saveMany(store, '1', many(1000))
    await save(store, '2', ['zzz.example.org'])
    const { claim } = await serve([['1', 'example.org']])
    const [result] = await claim(store, '1', ['*.example.org'])
    expect(result).toMatchObject({ status: 'moved', registrations: [{ domain: 'zzz.example.org', from: '2' }] })
  })

  test('all 1,500 names of other teams move, and whoever has lost them is told after each step', async () => {
    const store = createStore()
    await saveMany(store, '2', many(1499))
    await save(store, '3', ['x.example.org'])
    const { claim } = await serve([['1', 'example.org']])
    const steps: string[][] = []
    const onMoved: ClaimOptions['onMoved'] = moved => steps.push(moved.map(({ from, domain }) => `${from} ${domain}`))
    const [result] = await claim(store, '1', ['*.example.org'], { onMoved })
    expect([result?.status, result?.registrations.length]).toEqual(['moved', 1500])
    expect(steps.flat().sort()).toEqual([...many(1499).map(domain => `2 ${domain}`), '3 x.example.org'].sort())
    expect(steps.every(({ length }) => length <= 100)).toBe(true)
    expect(await claim(store, '1', ['*.example.org'])).toMatchObject([{ status: 'free', registrations: [] }])
    expect(await store.count({ teamId: '1' })).toBe(1500)
  })

  test('a limit in the middle: the error has what has moved, and its cause', async () => {
    const store = createMemoryStore({ teams: [{ ...teams[0], maxDomains: 150 }, teams[1]] })
    await saveMany(store, '2', many(250))
    const { claim } = await serve([['1', 'example.org']])
    const error = (await rejection(claim(store, '1', ['*.example.org']))) as ClaimError
    expect(error).toBeInstanceOf(ClaimError)
    expect(error).toMatchObject({ message: expect.stringContaining('100'), cause: { code: 'domain_limit_reached' } })
    expect(new Set(error.moved.map(({ domain }) => domain))).toEqual(
      new Set((await store.list({ teamId: '1' })).map(({ domain }) => domain)),
    )
  })
})

test('of two claims at once, one moves the name, and the other one says that it is gone', async () => {
  const store = createMemoryStore({ teams: ['1', '2', '3'].map(id => ({ id, organizationId: '10', state: 'active' })) })
  await save(store, '2', ['www.example.org'])
  const { claim } = await serve([
    ['1', 'example.org'],
    ['3', 'example.org'],
  ])
  const results = await Promise.all(['1', '3'].map(team => claim(store, team, ['www.example.org'])))
  const outcomes = results.flatMap(([result]) => result?.registrations ?? [])
  expect(outcomes.map(each => (each.status === 'kept' ? each.reason : each.status)).sort()).toEqual(['gone', 'moved'])
})
