import { FOUND_BEHIND_SUFFIXES, type NamesBelow, NOTHING_BELOW } from '../rules/registration.ts'
import {
  createRequest,
  findDomains,
  lookUp,
  manyDomains,
  save,
  submitForCodes,
  toDomains,
  toTestName,
} from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

/** Looks up the names below a base, and sorts them. */
async function lookBelow(store: SuiteStore, teamId: string, base: string): Promise<NamesBelow> {
  const { below } = await lookUp(store, teamId, [], [base])
  checkEqual('how many results there are for one base', below.length, 1)
  const [only = NOTHING_BELOW] = below
  return { ...only, ownDomains: [...only.ownDomains].sort() }
}

/**
 * The expected result for a base: the calling team has registered these names below it, and no other team has
 * registered any.
 */
const own = (...domains: string[]): NamesBelow => ({
  ...NOTHING_BELOW,
  ownDomains: domains,
  ownCount: domains.length,
})

const OTHERS: NamesBelow = { ...NOTHING_BELOW, heldByOthers: true }

export const lookUpCases: readonly CaseDefinition[] = [
  {
    id: 'finds-names-exactly',
    name: 'MUST find exactly the given names, and no names that are above, below or similar to them',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['www.example.com', 'b.a.example.com', 'example.org'])
      const alike = ['ww.example.com', 'wwww.example.com', 'www.example.co', 'b-a.example.com', 'example.com']
      const asked = [...alike, 'www.example.com', 'a.example.com', 'www.example.org', 'xample.org', 'example.org']
      checkEqual('the registrations found', await findDomains(store, '1', asked), ['www.example.com', 'example.org'])
    },
  },
  {
    id: 'finds-wildcards-exactly',
    name: 'MUST look up wildcards literally, not as patterns',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['*.example.com', '*.a.example.org', 'b.example.org', 'c.a.example.net'])
      const asked = [
        'x.a.example.org',
        'x.example.com',
        'example.com',
        '*.example.com',
        '*.example.org',
        '*.a.example.net',
        '*.example.net',
      ]
      checkEqual('the registrations found', await findDomains(store, '1', asked), ['*.example.com'])
    },
  },
  {
    id: 'looks-up-thousands-of-names',
    name: 'MUST find conflicts of a hundred hostnames in one call, even if each has 120 labels',
    async test({ open }) {
      const store = await open()
      // Each name has 120 labels below its registrable domain, so 120 wildcards could cover it.
      const deep = manyDomains(100, 'a.'.repeat(120))
      await save(store, '2', ['*.a.a.n99.com'])
      const expected = deep.map(domain => (domain.endsWith('.n99.com') ? 'domain_already_licensed' : 'created'))
      checkEqual('the codes of the results', await submitForCodes(store, '1', deep), expected)
    },
  },
  {
    id: 'finds-wildcards-above',
    name: 'MUST find the wildcards above covered names, at any depth, and find each registration once',
    async test({ open }) {
      const store = await open()
      const deep = (labels: number) => `${'a.'.repeat(labels)}example.net`
      const above = ['*.example.com', '*.b.example.com', `*.${deep(3)}`, `*.${deep(100)}`]
      await save(store, '1', [...above, '*.a.b.example.com', '*.c.example.com', 'b.example.com', '*.x.example.org'])
      const domains = ['*.b.example.com']
      const covered = ['a.b.example.com', '*.b.example.com', 'ab.b.example.com', deep(120), 'x.example.org', '8.8.8.8']
      const { found } = await store.register({
        ...createRequest('2', domains.map(toTestName), [], () => []),
        covered,
      })
      checkEqual('the registrations found', toDomains(found.registrations).sort(), above.sort())
    },
  },
  {
    id: 'below-others',
    name: 'MUST report whether another team has names below the base of a wildcard, but not which names',
    async test({ open }) {
      const store = await open()
      await save(store, '2', ['a.example.com', 'b.example.com'])
      checkEqual('the result for team 1', await lookBelow(store, '1', 'example.com'), OTHERS)
    },
  },
  {
    id: 'below-own',
    name: 'MUST count the calling team’s names below the base of a wildcard, and return up to three of them',
    async test({ open }) {
      const store = await open()
      await save(store, '2', ['x.example.com'])
      const domains = ['a', 'b', 'c', 'd', 'e'].map(label => `${label}.example.com`)
      await save(store, '1', [...domains, 'a.example.org', 'b.example.org'])
      const { ownDomains, ownCount } = await lookBelow(store, '1', 'example.com')
      const named = new Set(ownDomains.filter(domain => domains.includes(domain)))
      checkThat('three of the five are returned', ownDomains.length === 3 && named.size === 3, ownDomains)
      checkEqual('the number of counted names', ownCount, 5)
      const labels = ['a', 'b', 'c', 'd']
      await save(
        store,
        '1',
        labels.map((label, index) => ({
          domain: `${label}.b.example.net`,
          registrableDomain: index % 2 === 0 ? 'example.net' : 'b.example.net',
        })),
      )
      const mixed = await lookBelow(store, '1', 'b.example.net')
      const numbers = [mixed.ownDomains.length, mixed.ownCount]
      checkEqual('how many names with different registrable domains are returned and counted', numbers, [3, 4])
      checkEqual(
        'the result for a base with two names',
        await lookBelow(store, '1', 'example.org'),
        own('a.example.org', 'b.example.org'),
      )
    },
  },
  {
    id: 'below-counts-to-a-thousand',
    name: 'MUST count up to a thousand names below the base of a wildcard, and MAY stop there',
    async test({ open }) {
      const store = await open()
      for (let call = 0; call < 11; call += 1) {
        const domains = Array.from({ length: 100 }, (_, index) => `n${call}-${index}.example.com`)
        await save(store, '1', domains)
      }
      const { ownCount } = await lookBelow(store, '1', 'example.com')
      checkThat('at least 1,000 of 1,100 names are counted', ownCount >= 1000 && ownCount <= 1100, ownCount)
    },
  },
  {
    id: 'below-any-depth',
    name: 'MUST find names and wildcards at any depth below the base of a wildcard',
    async test({ open }) {
      const store = await open()
      const [deep, wildcard] = ['a.b.c.d.e.f.example.com', '*.a.example.org']
      await save(store, '1', [deep])
      await save(store, '2', [wildcard])
      for (const base of ['f.example.com', 'example.com']) {
        checkEqual(`the names below ${base}`, await lookBelow(store, '1', base), own(deep))
      }
      checkEqual(
        'the result for a wildcard of the same team',
        await lookBelow(store, '2', 'example.org'),
        own(wildcard),
      )
      checkEqual('the result for a wildcard of another team', await lookBelow(store, '1', 'example.org'), OTHERS)
    },
  },
  {
    id: 'below-not-the-base',
    name: 'MUST NOT count the base of a wildcard as a name below it',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com', 'a.example.com'])
      await save(store, '2', ['example.org', 'a.example.org'])
      for (const base of ['a.example.com', 'a.example.org']) {
        checkEqual(`the names below ${base}`, await lookBelow(store, '1', base), NOTHING_BELOW)
      }
      checkEqual('the names below example.com', await lookBelow(store, '1', 'example.com'), own('a.example.com'))
    },
  },
  {
    id: 'below-not-look-alikes',
    name: 'MUST NOT count similar names, such as ab.example.com or x.b-c.example.com, as names below b.example.com',
    async test({ open }) {
      const store = await open()
      const alike = ['ab.example.com', 'x.ab.example.com', 'b-c.example.com', 'x.b-c.example.com', 'b0.example.com']
      const elsewhere = ['x.b.example.org', 'x.b.notexample.com', 'b.example.com.example.org', 'bxexample.com']
      await save(store, '1', [...alike, ...elsewhere])
      await save(store, '2', ['c.example.com', 'x.c.example.com', 'b1.example.com'])
      checkEqual('the names below b.example.com', await lookBelow(store, '1', 'b.example.com'), NOTHING_BELOW)
    },
  },
  {
    id: 'below-tells-suffixes-apart',
    name: 'MUST report a name in `behindSuffixes`, and not count it, if a public suffix separates it from the base',
    async test({ open }) {
      const store = await open()
      // s3.amazonaws.com is a public suffix, so each bucket has a different owner.
      const inBucket = (domain: string) => ({ domain, registrableDomain: 'bucket.s3.amazonaws.com' })
      const names = ['a.bucket.s3.amazonaws.com', 'bucket.s3.amazonaws.com'].map(inBucket)
      await save(store, '1', names.slice(0, 1))
      await save(store, '2', names.slice(1))
      const { behindSuffixes, ...rest } = await lookBelow(store, '1', 'amazonaws.com')
      checkEqual('the names counted below amazonaws.com', { ...rest, behindSuffixes: [] }, NOTHING_BELOW)
      checkEqual(
        'the names behind a public suffix',
        behindSuffixes.map(({ domain, teamId }) => [domain, teamId]).sort(),
        names.map(({ domain }, index) => [domain, String(index + 1)]),
      )
      const within = await lookBelow(store, '1', 'bucket.s3.amazonaws.com')
      checkEqual('the names below the bucket', within, own('a.bucket.s3.amazonaws.com'))
    },
  },
  {
    id: 'below-finds-a-hundred-behind-suffixes',
    name: 'MUST return at least 100 names in `behindSuffixes` if there are that many, and MAY leave out the others',
    async test({ open }) {
      const store = await open()
      const buckets = Array.from({ length: 102 }, (_, index) => `bucket${index}.s3.amazonaws.com`)
      await save(
        store,
        '2',
        buckets.map(domain => ({ domain, registrableDomain: domain })),
      )
      const { behindSuffixes } = await lookBelow(store, '1', 'amazonaws.com')
      const found = new Set(toDomains(behindSuffixes).filter(domain => buckets.includes(domain)))
      checkThat(
        'at least 100 of 102 names are found',
        found.size >= FOUND_BEHIND_SUFFIXES && behindSuffixes.length === found.size,
        behindSuffixes,
      )
    },
  },
  {
    id: 'below-answers-in-order',
    name: 'MUST return one entry of `below` for each base, in the order of `bases`',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['x.b.com', 'x.c.com', 'y.c.com', 'x.a.c.com'])
      await save(store, '2', ['x.a.com'])
      const { below } = await lookUp(store, '1', [], ['c.com', 'e.com', 'a.com', 'b.com', 'a.c.com'])
      checkEqual(
        'how many names the team has below each base',
        below.map(({ ownCount }) => ownCount),
        [3, 0, 0, 1, 1],
      )
      checkEqual('whether other teams have names below a.com', below[2]?.heldByOthers, true)
    },
  },
]
