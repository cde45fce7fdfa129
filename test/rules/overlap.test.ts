import { describe, expect, test } from 'vitest'
import { createLookUp, createRegistrationRequest } from '../../src/operations/create-request.ts'
import type { Name } from '../../src/rules/name.ts'
import { judgeAll, type Verdict } from '../../src/rules/overlap.ts'
import { type LookUpResult, NOTHING_BELOW } from '../../src/rules/registration.ts'
import { save, toTestName } from '../../src/testing/calls.ts'
import { createStore } from '../fixtures.ts'
import { verdictOf } from './brute-force.ts'

/** Judges one name of team 1 against the registrations of teams 1 and 2. */
async function judgeOne(submitted: Name, own: readonly (string | Name)[], others: readonly (string | Name)[] = []) {
  const store = createStore()
  await save(store, '1', own)
  await save(store, '2', others)
  const [verdict] = judgeAll('1', [submitted], await store.find(createLookUp('1', [submitted])))
  return verdict
}
const judgeDomain = (submitted: string, ...registered: [readonly string[], (readonly string[])?]) =>
  judgeOne(toTestName(submitted), ...registered)

const toCode = (verdict: Verdict | undefined) => (verdict?.status === 'invalid' ? verdict.code : verdict?.status)

const outcomes = [
  // [result, submitted name, names of its team, names of another team]
  ['created', 'example.com', [], []],
  ['created', '*.example.com', [], []],
  ['existing', 'example.com', ['example.com'], []],
  ['existing', '*.example.com', ['*.example.com'], []],
  ['existing', '8.8.8.8', ['8.8.8.8'], []],

  // A wildcard covers all names below its base, at any depth, and narrower wildcards.
  ['wildcard_conflict', 'a.example.com', ['*.example.com'], []],
  ['wildcard_conflict', 'a.b.c.example.com', ['*.example.com'], []],
  ['wildcard_conflict', 'a.b.c.example.com', ['*.c.example.com'], []],
  ['wildcard_conflict', '*.a.example.com', ['*.example.com'], []],
  // A wildcard covers neither its own base nor names that only look similar.
  ['created', 'example.com', ['*.example.com'], []],
  ['created', '*.example.com', ['example.com'], []],
  ['created', 'a.b.example.com', ['*.a.example.com'], []],
  ['created', 'notexample.com', ['*.example.com'], []],
  ['created', 'c.example.com', ['*.c.example.com'], []],

  // A plain name covers nothing.
  ['created', 'www.example.com', ['example.com'], []],
  ['created', 'example.com', ['www.example.com'], []],
  ['created', 'www.example.com', [], ['example.com']],
  ['created', 'example.com', [], ['www.example.com']],

  ['subdomain_conflict', '*.example.com', ['a.example.com'], []],
  ['subdomain_conflict', '*.example.com', ['a.b.example.com'], []],
  ['subdomain_conflict', '*.example.com', ['*.a.example.com'], []],
  ['created', '*.a.example.com', ['b.example.com'], []],
  ['created', '*.a.example.com', ['a.example.com'], []],

  ['domain_already_licensed', 'example.com', [], ['example.com']],
  ['domain_already_licensed', '*.example.com', [], ['*.example.com']],
  ['domain_already_licensed', 'a.example.com', [], ['*.example.com']],
  ['domain_already_licensed', '*.a.example.com', [], ['*.example.com']],
  ['domain_already_licensed', '*.example.com', [], ['a.example.com']],
  ['domain_already_licensed', '*.example.com', [], ['*.a.example.com']],
  ['created', 'example.com', [], ['*.example.com']],
  ['created', '*.example.com', [], ['example.com']],

  // If a name conflicts with names of both teams, the result is the conflict within its own team.
  ['existing', '*.example.com', ['*.example.com'], ['a.example.com']],
  ['wildcard_conflict', 'a.b.example.com', ['*.example.com'], ['*.b.example.com']],
  ['wildcard_conflict', 'a.b.example.com', ['*.b.example.com'], ['a.b.example.com']],
  ['wildcard_conflict', '*.b.example.com', ['*.example.com', 'a.b.example.com'], []],
  ['subdomain_conflict', '*.example.com', ['a.example.com'], ['b.example.com']],
  ['subdomain_conflict', '*.example.com', ['a.example.com'], ['*.example.com']],
] as const

const list = (names: readonly string[]) => names.join(' and ') || 'nothing'

describe('overlap', () => {
  test.each(outcomes.map(each => [each[1], each[0], list(each[2]), list(each[3]), ...each] as const))(
    'the result for %s is "%s" if the calling team has registered %s, and the other team has registered %s',
    async (_submitted, _result, _own, _others, expected, submitted, own, others) => {
      expect(toCode(await judgeDomain(submitted, own, others))).toBe(expected)
      const registered = [own, others].flatMap((domains, index) =>
        domains.map(domain => ({ ...toTestName(domain), teamId: String(index + 1) })),
      )
      expect(verdictOf(toTestName(submitted), '1', registered)).toBe(expected)
    },
  )
})

describe('messages about conflicts', () => {
  test('name the closest wildcard of the same team', async () => {
    expect(await judgeDomain('a.b.example.com', ['*.example.com', '*.b.example.com'])).toMatchObject({
      reason: 'wildcard_conflict',
      conflicts: ['*.b.example.com'],
      count: 1,
      message:
        '"a.b.example.com" is covered by "*.b.example.com", which this team has registered, or which is in this list.',
    })
  })

  test.each([
    [3, ''],
    [4, ' and 1 more'],
    [5, ' and 2 more'],
    [1003, ' and at least 1000 more'],
  ])('list up to three of %i names of the same team and count the rest', async (count, rest) => {
    const own = Array.from({ length: count }, (_, index) => `n${index}.example.com`)
    expect(await judgeDomain('*.example.com', own)).toMatchObject({
      conflicts: own.slice(0, 3),
      count,
      message: expect.stringContaining(
        `would cover "n0.example.com", "n1.example.com", "n2.example.com"${rest}, which`,
      ),
    })
  })

  test('say "at least" if the store stopped counting at 1000, and list three of more names', () => {
    const ownDomains = ['a', 'b', 'c', 'd'].map(label => `${label}.example.com`)
    const below = [{ ...NOTHING_BELOW, ownDomains, ownCount: 1000 }]
    expect(judgeAll('1', [toTestName('*.example.com')], { registrations: [], below })).toMatchObject([
      {
        conflicts: ownDomains.slice(0, 3),
        message: expect.stringContaining('"c.example.com" and at least 997 more'),
      },
    ])
  })

  test('quote a name as sent, and the conflicting names in readable form', async () => {
    const sent = { ...toTestName('*.xn--bcher-kva.de'), input: ' *.Bücher.de.' }
    const conflicts = ['a.xn--bcher-kva.de', 'xn--pple-43d.xn--bcher-kva.de']
    expect(await judgeOne(sent, conflicts)).toMatchObject({
      conflicts,
      message:
        '"*.Bücher.de." would cover "a.bücher.de", "xn--pple-43d.bücher.de", ' +
        'which this team has registered, or which are in this list: delete them first, or leave them out.',
    })
  })

  test('reveal nothing about another team', async () => {
    for (const others of [['*.example.com'], ['secret.b.example.com'], ['*.b.example.com']]) {
      expect(await judgeDomain('*.b.example.com', [], others)).toEqual({
        status: 'invalid',
        code: 'domain_already_licensed',
        reason: 'domain_already_licensed',
        message: '"*.b.example.com" cannot be registered: it overlaps with a registration of another team.',
      })
    }
  })
})

describe('the names of one call', () => {
  function decide(...domains: string[]) {
    const names = domains.map(toTestName)
    const request = createRegistrationRequest({ teamId: 'own', submitted: names, timeLimit: 1000 })
    const nothing: LookUpResult = { registrations: [], below: request.bases.map(() => NOTHING_BELOW) }
    const created = request.decide(nothing).map(({ domain }) => domain)
    const verdicts = judgeAll('own', names, nothing).map(verdict =>
      verdict.status === 'invalid' ? verdict.code : verdict.status,
    )
    return { request, created, verdicts }
  }

  test('are checked as if they had been submitted one by one', () => {
    expect(decide('*.x.com', 'a.x.com').verdicts).toEqual(['created', 'wildcard_conflict'])
    expect(decide('a.x.com', '*.x.com').verdicts).toEqual(['created', 'subdomain_conflict'])
    expect(decide('a.b.x.com', '*.b.x.com', '*.x.com').verdicts).toEqual([
      'created',
      'subdomain_conflict',
      'subdomain_conflict',
    ])
    expect(decide('*.b.x.com', '*.x.com', 'a.b.x.com').verdicts).toEqual([
      'created',
      'subdomain_conflict',
      'wildcard_conflict',
    ])
    expect(decide('x.com', '*.x.com', 'x.com', '*.x.com').verdicts).toEqual([
      'created',
      'created',
      'existing',
      'existing',
    ])
  })

  test('are created once each, even if a name is repeated', () => {
    expect(decide('x.com', 'y.com', 'x.com').created).toEqual(['x.com', 'y.com'])
  })

  test('count as subdomains of a later wildcard', () => {
    const { request } = decide('a.x.com', '*.x.com')
    const below = [{ ...NOTHING_BELOW, ownDomains: ['b.x.com'], ownCount: 1, heldByOthers: true }]
    const verdicts = judgeAll('own', ['a.x.com', '*.x.com'].map(toTestName), { registrations: [], below })
    expect(request.bases).toEqual(['x.com'])
    expect(verdicts[1]).toMatchObject({ message: expect.stringContaining('"b.x.com", "a.x.com", which') })
  })

  test('are looked up once each, and their registrable domains are locked in sorted order', () => {
    const { request } = decide('b.a.y.com', '*.x.com', '*.x.com', 'x.com', 'a.y.com')
    expect(request.registrableDomains).toEqual(['x.com', 'y.com'])
    expect(request.domains).toEqual(['b.a.y.com', '*.x.com', 'x.com', 'a.y.com'])
    expect(request.covered).toEqual(request.domains)
    expect(request.bases).toEqual(['x.com'])
  })

  test('get the same results for the same lookups, even if decide is called several times', () => {
    const { request, created } = decide('x.com', '*.x.com', 'a.x.com')
    const none = { registrations: [], below: [NOTHING_BELOW] }
    const some = { registrations: [], below: [{ ...NOTHING_BELOW, ownDomains: ['b.x.com'], ownCount: 1 }] }
    const toDomains = (names: readonly Name[]) => names.map(({ domain }) => domain)
    for (let run = 0; run < 3; run += 1) {
      expect(toDomains(request.decide(none))).toEqual(created)
      expect(toDomains(request.decide(some))).toEqual(['x.com', 'a.x.com'])
    }
  })
})

describe('wildcards and public suffixes:', () => {
  // s3.amazonaws.com is a public suffix, so each bucket may belong to someone else.
  const bucket = { domain: 'bucket.s3.amazonaws.com', registrableDomain: 'bucket.s3.amazonaws.com' }
  const wide = { domain: '*.amazonaws.com', registrableDomain: 'amazonaws.com' }

  test('a wildcard does not cover a name if a public suffix is between them', async () => {
    expect(createLookUp('1', [bucket])).toMatchObject({ domains: [bucket.domain], covered: [bucket.domain] })
    expect(toCode(await judgeOne(bucket, [], [wide]))).toBe('created')
    expect(toCode(await judgeOne(wide, [], [bucket]))).toBe('created')
    expect(judgeAll('1', [bucket, wide], { registrations: [], below: [NOTHING_BELOW] })).toEqual([
      { status: 'created' },
      { status: 'created' },
    ])
  })

  test('a wildcard covers a name once the public suffix between them is removed from the suffix list', async () => {
    const removed = 'shop.no-longer-a-suffix.amazonaws.com'
    // The store need not return all names behind suffixes.
    const buckets = Array.from({ length: 90 }, (_, index) => `b${index}.s3.amazonaws.com`)
    const behind = [...buckets, removed].map(domain => ({ domain, registrableDomain: domain }))
    expect(toCode(await judgeOne(wide, behind))).toBe('subdomain_conflict')
    expect(toCode(await judgeOne(wide, [], behind))).toBe('domain_already_licensed')
  })

  test('a wildcard still covers every name below it after its base has become a public suffix', async () => {
    const former = { domain: '*.github.io', registrableDomain: 'github.io' }
    const name = { domain: 'www.me.github.io', registrableDomain: 'me.github.io' }
    expect(toCode(await judgeOne(name, [], [former]))).toBe('domain_already_licensed')
    expect(toCode(await judgeOne(name, [former]))).toBe('wildcard_conflict')
  })
})
