import { describe, expect, test } from 'vitest'
import type { Name } from '../../src/registry/name.ts'
import { judge } from '../../src/registry/overlap.ts'
import { createRegistrationRequest, judgeAll } from '../../src/registry/request.ts'
import type { Found } from '../../src/registry/store.ts'

const toName = (domain: string): Name => ({ domain, registrableDomain: domain.split('.').slice(-2).join('.') })

/**
 * Judges one name against what two teams hold; the found is worked out here by brute force, from the words of the rule.
 */
function verdictOf(submitted: string, own: readonly string[], others: readonly string[] = []) {
  const owners = new Map([
    ...own.map(domain => [domain, 'own'] as const),
    ...others.map(domain => [domain, 'other'] as const),
  ])
  const isBelow = (domain: string) => domain.endsWith(submitted.slice(1)) && domain !== submitted
  return judge(toName(submitted), 'own', {
    ownerOf: domain => owners.get(domain),
    covering: ({ domain }) =>
      [...owners]
        .filter(([held]) => held.startsWith('*.') && domain.endsWith(held.slice(1)) && domain !== held)
        .sort(([one], [other]) => other.length - one.length)
        .map(([held, teamId]) => ({ domain: held, teamId })),
    below: () => ({
      ownDomains: own.filter(isBelow).slice(0, 3),
      ownCount: own.filter(isBelow).length,
      heldByOthers: others.some(isBelow),
    }),
  })
}

describe('the decision table', () => {
  test.each([
    // [what becomes of it, submitted, the own team holds, another team holds]
    ['created', 'example.com', [], []],
    ['created', '*.example.com', [], []],
    ['existing', 'example.com', ['example.com'], []],
    ['existing', '*.example.com', ['*.example.com'], []],
    ['existing', '8.8.8.8', ['8.8.8.8'], []],

    // A wildcard covers what is below its base, at any depth, and narrower wildcards.
    ['wildcard_conflict', 'a.example.com', ['*.example.com'], []],
    ['wildcard_conflict', 'a.b.c.example.com', ['*.example.com'], []],
    ['wildcard_conflict', 'a.b.c.example.com', ['*.c.example.com'], []],
    ['wildcard_conflict', '*.a.example.com', ['*.example.com'], []],
    // It does not cover its own base, nor what only looks alike.
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

    // The own team before other teams.
    ['existing', '*.example.com', ['*.example.com'], ['a.example.com']],
    ['wildcard_conflict', 'a.b.example.com', ['*.example.com'], ['*.b.example.com']],
    ['wildcard_conflict', 'a.b.example.com', ['*.b.example.com'], ['a.b.example.com']],
    ['wildcard_conflict', '*.b.example.com', ['*.example.com', 'a.b.example.com'], []],
    ['subdomain_conflict', '*.example.com', ['a.example.com'], ['b.example.com']],
    ['subdomain_conflict', '*.example.com', ['a.example.com'], ['*.example.com']],
  ] as const)('%s: %s while the team holds %j and another %j', (expected, submitted, own, others) => {
    const verdict = verdictOf(submitted, own, others)
    expect(verdict.status === 'invalid' ? verdict.code : verdict.status).toBe(expected)
  })
})

describe('messages', () => {
  test('the nearest own wildcard is named', () => {
    expect(verdictOf('a.b.example.com', ['*.example.com', '*.b.example.com'])).toMatchObject({
      message:
        '"a.b.example.com" is covered by "*.b.example.com", which this team has registered; there is nothing to add.',
    })
  })

  test('up to three own names are named and the rest is counted', () => {
    const own = ['a', 'b', 'c', 'd', 'e'].map(label => `${label}.example.com`)
    expect(verdictOf('*.example.com', own.slice(0, 3))).toMatchObject({
      message: expect.stringMatching(/would cover "a.example.com", "b.example.com", "c.example.com", which/),
    })
    expect(verdictOf('*.example.com', own)).toMatchObject({
      message: expect.stringMatching(/would cover "a.example.com", "b.example.com", "c.example.com" and 2 more, which/),
    })
  })

  test('a store that stopped counting, or names more than three, is not taken at its word', () => {
    const verdict = judge(toName('*.example.com'), 'own', {
      ownerOf: () => undefined,
      covering: () => [],
      below: () => ({
        ownDomains: ['a', 'b', 'c', 'd'].map(label => `${label}.example.com`),
        ownCount: 1000,
        heldByOthers: false,
      }),
    })
    expect(verdict).toMatchObject({ message: expect.stringContaining('"c.example.com" and at least 997 more') })
  })

  test('of another team nothing is told', () => {
    for (const others of [['*.example.com'], ['secret.b.example.com'], ['*.b.example.com']]) {
      expect(verdictOf('*.b.example.com', [], others)).toEqual({
        status: 'invalid',
        code: 'domain_already_licensed',
        message: '"*.b.example.com" cannot be registered: it overlaps with a registration of another team.',
      })
    }
  })
})

describe('names of one call', () => {
  function decide(...domains: string[]) {
    const names = domains.map(toName)
    const request = createRegistrationRequest('own', names)
    const nothing: Found = {
      registrations: [],
      below: request.wildcardBases.map(() => ({ ownDomains: [], ownCount: 0, heldByOthers: false })),
    }
    const created = request.decide(nothing).map(({ domain }) => domain)
    const verdicts = judgeAll('own', names, nothing).map(verdict =>
      verdict.status === 'invalid' ? verdict.code : verdict.status,
    )
    return { request, created, verdicts }
  }

  test('are judged as if they had been submitted one by one', () => {
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

  test('are each created once', () => {
    expect(decide('x.com', 'y.com', 'x.com').created).toEqual(['x.com', 'y.com'])
  })

  test('are counted among the subdomains of a later wildcard', () => {
    const { request } = decide('a.x.com', '*.x.com')
    const below = [{ ownDomains: ['b.x.com'], ownCount: 1, heldByOthers: true }]
    const verdicts = judgeAll('own', ['a.x.com', '*.x.com'].map(toName), { registrations: [], below })
    expect(request.wildcardBases).toEqual([{ domain: 'x.com', registrableDomain: 'x.com' }])
    expect(verdicts[1]).toMatchObject({ message: expect.stringContaining('"b.x.com", "a.x.com", which') })
  })

  test('make look-ups that are distinct, and locks that are sorted', () => {
    const { request } = decide('b.a.y.com', '*.x.com', '*.x.com', 'x.com', 'a.y.com')
    expect(request.registrableDomains).toEqual(['x.com', 'y.com'])
    expect(request.names.map(({ domain }) => domain)).toEqual([
      'b.a.y.com',
      '*.a.y.com',
      '*.y.com',
      '*.x.com',
      'x.com',
      'a.y.com',
    ])
    expect(request.wildcardBases).toEqual([{ domain: 'x.com', registrableDomain: 'x.com' }])
  })

  test('may be decided again, on other findings and the same: decide is pure', () => {
    const { request, created } = decide('x.com', '*.x.com', 'a.x.com')
    const none = { registrations: [], below: [{ ownDomains: [], ownCount: 0, heldByOthers: false }] }
    const some = { registrations: [], below: [{ ownDomains: ['b.x.com'], ownCount: 1, heldByOthers: false }] }
    const toDomains = (names: readonly Name[]) => names.map(({ domain }) => domain)
    for (let run = 0; run < 3; run += 1) {
      expect(toDomains(request.decide(none))).toEqual(created)
      expect(toDomains(request.decide(some))).toEqual(['x.com', 'a.x.com'])
    }
  })
})

test('a wildcard does not reach across a public suffix', () => {
  // s3.amazonaws.com is a public suffix, so the bucket is somebody else's and amazonaws.com locks nothing of it.
  const bucket = { domain: 'bucket.s3.amazonaws.com', registrableDomain: 'bucket.s3.amazonaws.com' }
  const request = createRegistrationRequest('own', [bucket])
  expect(request.names).toEqual([bucket])
  const wide = { domain: '*.amazonaws.com', registrableDomain: 'amazonaws.com' }
  const found = [{ ...wide, teamId: 'other', domainId: '1', synchronized: true }]
  expect(request.decide({ registrations: found, below: [] })).toEqual([bucket])
})
