import type { Registration } from '../rules/registration.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { findDomains, lookUp, manyDomains, methodOf, save, submitForCodes, toDomains } from './calls.ts'
import { checkEqual, checkRejectsArgument, checkThat } from './check.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

export const releaseDomains = async (store: SuiteStore, teamId: string, domains: readonly string[]) =>
  methodOf(store, 'release')(teamId, domains)

/** Strings that differ from an ID only in the last character, and are not the ID of any registration. */
function similarIds(saved: readonly Registration[]): readonly string[] {
  const ids = saved.map(({ domainId }) => domainId)
  const similar = ids.flatMap(id => ['0', 'f'].map(last => id.slice(0, -1) + last))
  return similar.filter(id => !ids.includes(id))
}

export const releaseCases: readonly CaseDefinition[] = [
  {
    id: 'release-frees-names',
    name: 'MUST return the names and wildcards that a team releases, and let other teams register them',
    async test({ open }) {
      const store = await open()
      const saved = await save(store, '1', ['a.example.com', '*.example.org', 'b.example.com'])
      const released = await releaseDomains(store, '1', ['*.example.org', 'a.example.com'])
      const sorted = released.toSorted((one, other) => (one.domain > other.domain ? -1 : 1))
      checkEqual('the returned registrations', sorted, saved.slice(0, 2))
      checkEqual(
        'the codes of the same names for another team',
        await submitForCodes(store, '2', ['a.example.com', 'www.example.org', '*.example.com', 'b.example.com']),
        ['created', 'created', 'subdomain_conflict', 'domain_already_licensed'],
      )
    },
  },
  {
    id: 'release-by-id',
    name: 'MUST release a registration by its ID or its name, and only once if one call contains both',
    async test({ open }) {
      const store = await open()
      const saved = await save(store, '1', ['a.com', '*.b.com', 'c.com', 'd.com'])
      const [a = '', b = '', c = ''] = saved.map(({ domainId }) => domainId)
      checkEqual('the names released by one ID', toDomains(await releaseDomains(store, '1', [a])), ['a.com'])
      const released = await releaseDomains(store, '1', [b, 'c.com', c, b, a])
      checkEqual('the names released by the other IDs and names', toDomains(released).toSorted(), ['*.b.com', 'c.com'])
      checkEqual('the registrations released by similar IDs', await releaseDomains(store, '1', similarIds(saved)), [])
      checkEqual('the names that are still registered', await findDomains(store, '1', toDomains(saved)), ['d.com'])
    },
  },
  {
    id: 'release-of-a-wildcard-alone',
    name: 'MUST release a wildcard without its base, and without the names that it covers',
    async test({ open }) {
      const store = await open()
      const others = ['example.com', 'a.example.com', '*.b.example.com']
      await save(store, '1', ['*.example.com', ...others])
      checkEqual('the returned registrations', toDomains(await releaseDomains(store, '1', ['*.example.com'])), [
        '*.example.com',
      ])
      const held = await findDomains(store, '1', ['*.example.com', ...others])
      checkEqual('the names that are still registered', held, others)
    },
  },
  {
    id: 'release-passes-over-other-teams',
    name: 'MUST NOT release registrations of another team',
    async test({ open }) {
      const store = await open()
      const saved = await save(store, '2', ['example.com', '*.example.org'])
      const keys = ['example.com', '*.example.org', ...saved.map(({ domainId }) => domainId)]
      checkEqual('the returned registrations', await releaseDomains(store, '1', keys), [])
      const { registrations } = await lookUp(store, '2', ['example.com', '*.example.org'])
      checkEqual('the names that are still registered', registrations, saved)
    },
  },
  {
    id: 'release-passes-over-what-is-not-there',
    name: 'MUST skip unregistered names and invalid hostnames when it releases names',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com', 'www.example.org'])
      const released = await releaseDomains(store, '1', [
        'www.example.com',
        'localhost',
        '',
        '*.example.org',
        'example.com',
      ])
      checkEqual('the returned registrations', toDomains(released), ['example.com'])
      const held = await findDomains(store, '1', ['www.example.org'])
      checkEqual('the names that are still registered', held, ['www.example.org'])
    },
  },
  {
    id: 'release-in-any-spelling',
    name: 'MUST release a name in any spelling in which it can be registered',
    async test({ open }) {
      const store = await open()
      await submitForCodes(store, '1', ['www.example.com', 'bücher.example.org'])
      const released = await releaseDomains(store, '1', [' WWW.Example.com.', 'Bücher.example.org'])
      checkEqual('the returned registrations', toDomains(released).toSorted(), [
        'www.example.com',
        'xn--bcher-kva.example.org',
      ])
    },
  },
  {
    id: 'release-refuses-what-is-no-list',
    name: 'MUST reject a release with a TypeError for an invalid team ID, names not in an array, or too many names',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com'])
      const wrong: readonly (readonly [unknown, unknown])[] = [
        [1, ['example.com']],
        ['1', 'example.com'],
        ['1', undefined],
        ['1', manyDomains(MOST_AT_ONCE + 1)],
      ]
      for (const [teamId, domains] of wrong) {
        await checkRejectsArgument('release', () => releaseDomains(store, teamId as string, domains as string[]))
      }
    },
  },
  {
    id: 'release-ends-an-id',
    name: 'MUST give a name a new ID when it is registered again after a release',
    async test({ open }) {
      const store = await open()
      const [before] = await save(store, '1', ['example.com'])
      await releaseDomains(store, '1', ['example.com'])
      const [after] = await save(store, '1', ['example.com'])
      checkThat('the ID is new', before?.domainId !== after?.domainId, [before, after])
    },
  },
  {
    id: 'release-during-a-push',
    name: 'MUST NOT restore a registration that was released during its push',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(async () => {
        await releaseDomains(store, '1', ['example.com'])
      })
      const saved = await save(store, '1', ['example.com'])
      await store.synchronize?.(saved)
      checkEqual('the registrations found', await findDomains(store, '1', ['example.com']), [])
    },
  },
  {
    id: 'counts-registrations',
    name: 'MUST count the registrations of one team or of all teams',
    needs: ['count'],
    async test({ open }) {
      const store = await open()
      const counts = async () => {
        const count = methodOf(store, 'count')
        return [await count(), await count({ teamId: '1' }), await count({ teamId: '2' })]
      }
      checkEqual('the counts in an empty store', await counts(), [0, 0, 0])
      await save(store, '1', manyDomains(5))
      await save(store, '2', ['*.example.com'])
      checkEqual('the counts after six registrations', await counts(), [6, 5, 1])
      await releaseDomains(store, '1', ['n1.com', 'n2.com', '*.example.com'])
      checkEqual('the counts after two releases', await counts(), [4, 3, 1])
      for (const wrong of [{ team: '1' }, { teamId: 1 }]) {
        await checkRejectsArgument('count', async () => methodOf(store, 'count')(wrong as object))
      }
    },
  },
]
