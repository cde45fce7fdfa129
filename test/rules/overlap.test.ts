import { describe, expect, test } from 'vitest'
import type { Name } from '../../src/rules/name.ts'
import { judge, judgeAll } from '../../src/rules/overlap.ts'
import { type LookUpResult, NOTHING_BELOW } from '../../src/rules/registration.ts'
import { createRegistrationRequest } from '../../src/rules/request.ts'
import { toTestRegistration } from '../../src/testing/calls.ts'

const toName = (domain: string): Name => ({ domain, registrableDomain: domain.split('.').slice(-2).join('.') })

/**
 * Judges one name against the registrations of two teams. The findings of the store are computed here by brute force,
 * directly from the rule.
 */
function verdictOf(submitted: string, own: readonly string[], others: readonly string[] = []) {
  const owners = new Map([
    ...own.map(domain => [domain, 'own'] as const),
    ...others.map(domain => [domain, 'other'] as const),
  ])
  const isBelow = (domain: string) => domain.endsWith(submitted.slice(1)) && domain !== submitted
  return judge(toName(submitted), 'own', {
    ownerOf: domain => owners.get(domain),
    wildcardsAbove: ({ domain }) =>
      [...owners]
        .filter(([held]) => held.startsWith('*.') && domain.endsWith(held.slice(1)) && domain !== held)
        .sort(([one], [other]) => other.length - one.length)
        .map(([held, teamId]) => ({ domain: held, teamId })),
    below: () => ({
      ...NOTHING_BELOW,
      ownDomains: own.filter(isBelow).slice(0, 3),
      ownCount: own.filter(isBelow).length,
      heldByOthers: others.some(isBelow),
    }),
  })
}

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
    (_submitted, _result, _own, _others, expected, submitted, own, others) => {
      const verdict = verdictOf(submitted, own, others)
      expect(verdict.status === 'invalid' ? verdict.code : verdict.status).toBe(expected)
    },
  )
})

describe('messages about conflicts', () => {
  test('name the closest wildcard of the same team', () => {
    expect(verdictOf('a.b.example.com', ['*.example.com', '*.b.example.com'])).toMatchObject({
      reason: 'wildcard_conflict',
      conflicts: ['*.b.example.com'],
      count: 1,
      message: '"a.b.example.com" is covered by "*.b.example.com", which this team has registered already.',
    })
  })

  test('list up to three names of the same team and count the rest', () => {
    const own = ['a', 'b', 'c', 'd', 'e'].map(label => `${label}.example.com`)
    const message = (rest: string) =>
      expect.stringContaining(`would cover "a.example.com", "b.example.com", "c.example.com"${rest}, which`)
    const conflicts = own.slice(0, 3)
    expect(verdictOf('*.example.com', conflicts)).toMatchObject({ conflicts, count: 3, message: message('') })
    const four = { conflicts, count: 4, message: message(' and 1 more') }
    expect(verdictOf('*.example.com', own.slice(0, 4))).toMatchObject(four)
    expect(verdictOf('*.example.com', own)).toMatchObject({ conflicts, count: 5, message: message(' and 2 more') })
  })

  test('say "at least" if the store stopped counting at 1000', () => {
    const verdict = judge(toName('*.example.com'), 'own', {
      ownerOf: () => undefined,
      wildcardsAbove: () => [],
      below: () => ({
        ...NOTHING_BELOW,
        ownDomains: ['a', 'b', 'c', 'd'].map(label => `${label}.example.com`),
        ownCount: 1000,
      }),
    })
    expect(verdict).toMatchObject({
      conflicts: ['a.example.com', 'b.example.com', 'c.example.com'],
      message: expect.stringContaining('"c.example.com" and at least 997 more'),
    })
  })

  test('quote a name as sent, and the conflicting names in readable form', () => {
    const sent = { ...toName('*.xn--bcher-kva.de'), input: ' *.Bücher.de.' }
    const ownDomains = ['a.xn--bcher-kva.de', 'xn--pple-43d.xn--bcher-kva.de']
    const below = () => ({ ...NOTHING_BELOW, ownDomains, ownCount: 2 })
    expect(judge(sent, 'own', { ownerOf: () => undefined, wildcardsAbove: () => [], below })).toMatchObject({
      conflicts: ownDomains,
      message:
        '"*.Bücher.de." would cover "a.bücher.de", "xn--pple-43d.bücher.de", ' +
        'which this team has registered and must delete first.',
    })
  })

  test('reveal nothing about another team', () => {
    for (const others of [['*.example.com'], ['secret.b.example.com'], ['*.b.example.com']]) {
      expect(verdictOf('*.b.example.com', [], others)).toEqual({
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
    const names = domains.map(toName)
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
    const verdicts = judgeAll('own', ['a.x.com', '*.x.com'].map(toName), { registrations: [], below })
    expect(request.bases).toEqual(['x.com'])
    expect(verdicts[1]).toMatchObject({ message: expect.stringContaining('"b.x.com", "a.x.com", which') })
  })

  test('are looked up once each, and their registrable domains are locked in sorted order', () => {
    const { request } = decide('b.a.y.com', '*.x.com', '*.x.com', 'x.com', 'a.y.com')
    expect(request.registrableDomains).toEqual(['x.com', 'y.com'])
    expect(request.domains).toEqual(['b.a.y.com', '*.a.y.com', '*.y.com', '*.x.com', 'x.com', 'a.y.com'])
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
  const hold = (name: Name, teamId: string) => toTestRegistration(name.domain, { ...name, teamId })
  const judgeOne = (name: Name, found: Partial<LookUpResult>) => {
    const [verdict] = judgeAll('own', [name], { registrations: [], below: [NOTHING_BELOW], ...found })
    return verdict?.status === 'invalid' ? verdict.code : verdict?.status
  }

  test('a wildcard does not cover a name if a public suffix is between them', () => {
    const { domains } = createRegistrationRequest({ teamId: 'own', submitted: [bucket], timeLimit: 1000 })
    expect(domains).toEqual([bucket.domain, '*.s3.amazonaws.com', '*.amazonaws.com'])
    expect(judgeOne(bucket, { registrations: [hold(wide, 'other')] })).toBe('created')
    const below = [{ ...NOTHING_BELOW, behindSuffixes: [{ domain: bucket.domain, teamId: 'other' }] }]
    expect(judgeOne(wide, { below })).toBe('created')
    expect(judgeAll('own', [bucket, wide], { registrations: [], below: [NOTHING_BELOW] })).toEqual([
      { status: 'created' },
      { status: 'created' },
    ])
  })

  test('a wildcard covers a name once the public suffix between them is removed from the suffix list', () => {
    const held = { domain: 'shop.platform.example.com', teamId: 'own' }
    const below = [{ ...NOTHING_BELOW, behindSuffixes: [held, { domain: 'a.b.platform.example.com', teamId: 'own' }] }]
    const example = { domain: '*.example.com', registrableDomain: 'example.com' }
    expect(judgeOne(example, { below })).toBe('subdomain_conflict')
    expect(judgeOne(example, { below: [{ ...NOTHING_BELOW, behindSuffixes: [{ ...held, teamId: 'other' }] }] })).toBe(
      'domain_already_licensed',
    )
  })

  test('a wildcard still covers every name below it after its base has become a public suffix', () => {
    const old = hold({ domain: '*.github.io', registrableDomain: 'github.io' }, 'other')
    const name = { domain: 'www.me.github.io', registrableDomain: 'me.github.io' }
    expect(judgeOne(name, { registrations: [old] })).toBe('domain_already_licensed')
    expect(judgeOne(name, { registrations: [{ ...old, teamId: 'own' }] })).toBe('wildcard_conflict')
  })
})
