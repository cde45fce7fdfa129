import { type ListOptions, MOST_AT_ONCE } from '../store/contract.ts'
import { lookUp, manyDomains, methodOf, save, toDomains } from './calls.ts'
import { checkEqual, checkRejectsArgument, checkThat } from './check.ts'
import { synchronize } from './monitor.ts'
import { releaseDomains } from './release-cases.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const listIn = async (store: SuiteStore, options?: ListOptions) => methodOf(store, 'list')(options)
const listDomains = async (store: SuiteStore, options?: ListOptions) => toDomains(await listIn(store, options))

/** Lists page after page, until a page is not full. */
async function listPages(
  store: SuiteStore,
  options: ListOptions & { readonly limit: number },
  by: 'domainId' | 'domain' = 'domainId',
): Promise<string[][]> {
  const pages: string[][] = []
  for (let after: string | undefined; pages.length < 9; ) {
    const page = await listIn(store, { ...options, after })
    pages.push(toDomains(page))
    after = page.at(-1)?.[by]
    if (page.length < options.limit) break
  }
  return pages
}

const inThrees = (domains: readonly string[]) =>
  Array.from({ length: Math.floor(domains.length / 3) + 1 }, (_, page) => domains.slice(3 * page, 3 * page + 3))

export const listCases: readonly CaseDefinition[] = [
  {
    id: 'lists-in-order',
    name: 'MUST list registrations in the order of creation, even those from one call',
    async test({ open }) {
      const store = await open()
      checkEqual('the list of an empty store', await listIn(store), [])
      const [early, late] = [manyDomains(50).reverse(), ['c.com', '*.a.com', 'd.com', 'x.c.com']]
      await save(store, '1', early)
      for (const domain of late) await save(store, domain === 'd.com' ? '2' : '1', [domain])
      checkEqual('the listed registrations', await listDomains(store), [...early, ...late])
    },
  },
  {
    id: 'lists-ascending-ids',
    name: 'MUST list registrations with ascending IDs, compared as strings, from the oldest to the newest',
    async test({ open }) {
      const store = await open()
      for (const prefix of ['b', 'a']) await save(store, '1', manyDomains(50, prefix).reverse())
      const ids = (await listIn(store)).map(({ domainId }) => domainId)
      checkEqual('the number of listed registrations', ids.length, 100)
      checkEqual('the IDs of the listed registrations', ids, [...new Set(ids)].sort())
    },
  },
  {
    id: 'lists-whole-registrations',
    name: 'MUST list the same registrations that `register` passes to `decide`, including their time of creation',
    async test({ open, features }) {
      const store = await open(features.includes('synchronize') ? () => {} : undefined)
      const begun = Date.now()
      const saved = await save(store, '1', ['a.com', '*.b.com'])
      if (features.includes('synchronize')) await synchronize(store, saved.slice(1))
      const listed = await listIn(store)
      const { registrations } = await lookUp(store, '1', toDomains(saved))
      checkEqual('the listed registrations', listed, registrations)
      for (const { createdAt } of listed) {
        // The clocks of two machines may differ.
        const isNow = createdAt instanceof Date && Math.abs(createdAt.getTime() - begun) < 60_000
        checkThat('a registration was created about now', isNow, createdAt)
      }
    },
  },
  {
    id: 'lists-a-team',
    name: "MUST list only one team's registrations if `teamId` is given",
    async test({ open }) {
      const store = await open()
      for (const [index, domain] of manyDomains(9).entries()) await save(store, String((index % 3) + 1), [domain])
      for (const [teamId, expected] of [
        ['2', ['n1.com', 'n4.com', 'n7.com']],
        ['77', []],
      ] as const) {
        checkEqual(`the names listed for team ${teamId}`, await listDomains(store, { teamId }), expected)
      }
    },
  },
  {
    id: 'lists-by-page',
    name: 'MUST list at most `limit` registrations, starting after the one whose ID is `after`',
    async test({ open }) {
      const store = await open()
      for (const [index, domain] of manyDomains(14).entries()) await save(store, String((index % 2) + 1), [domain])
      for (const ofTeam of [{}, { teamId: '1' }, { teamId: '2' }]) {
        const expected = inThrees(await listDomains(store, ofTeam))
        const pages = await listPages(store, { ...ofTeam, limit: 3 })
        checkEqual(`the pages for team ${ofTeam.teamId ?? 'any'}`, pages, expected)
      }
      checkEqual('a page with limit 0', await listIn(store, { limit: 0 }), [])
    },
  },
  {
    id: 'lists-a-thousand-by-default',
    name: `MUST list at most ${MOST_AT_ONCE} registrations if no limit is given`,
    async test({ open }) {
      const store = await open()
      for (let call = 0; call < 11; call += 1) await save(store, '1', manyDomains(100, `c${call}.`))
      checkEqual('the number of listed registrations', (await listIn(store)).length, MOST_AT_ONCE)
    },
  },
  {
    id: 'lists-the-newest-first',
    name: 'MUST list the newest registrations first, even across pages, if `order` is "newest"',
    async test({ open }) {
      const store = await open()
      const domains = ['c.com', 'a.com', 'd.com', 'b.com', 'e.com', 'x.a.com', '*.a.com']
      for (const domain of domains) await save(store, domain === 'b.com' ? '2' : '1', [domain])
      for (const ofTeam of [{}, { teamId: '1' }, { teamId: '2' }]) {
        const isOfTeam = (domain: string) => !ofTeam.teamId || (domain === 'b.com') === (ofTeam.teamId === '2')
        const expected = domains.filter(isOfTeam).reverse()
        const pages = await listPages(store, { ...ofTeam, limit: 3, order: 'newest' })
        checkEqual(`the pages for team ${ofTeam.teamId ?? 'any'}`, pages, inThrees(expected))
      }
      checkEqual('the list with the oldest registration first', await listDomains(store, { order: 'oldest' }), domains)
    },
  },
  {
    id: 'lists-one-domain',
    name: 'MUST accept any spelling of the name in `domain`, and list only the registration of this name',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com', 'www.example.com', '*.example.com'])
      for (const [options, expected] of [
        [{ domain: ' WWW.example.com.' }, ['www.example.com']],
        [{ domain: '*.example.com', teamId: '1' }, ['*.example.com']],
        [{ domain: 'www.example.com', teamId: '2' }, []],
        [{ domain: 'a.example.com' }, []],
        [{ domain: 'www.example.com', limit: 0 }, []],
      ] as const) {
        checkEqual(`the names listed for ${options.domain}`, await listDomains(store, options), expected)
      }
      const domain = 'www.example.com'
      const after = (await listIn(store, { domain }))[0]?.domainId
      for (const order of ['oldest', 'newest'] as const)
        checkEqual(
          `the names listed after ${domain}, ${order} first`,
          await listIn(store, { domain, after, order }),
          [],
        )
    },
  },
  {
    id: 'lists-below',
    name: 'MUST list the names below a given name, sorted by labels from right to left, even across pages',
    async test({ open }) {
      const store = await open()
      const below = ['*', 'a', 'b.a', 'c.b.a', 'b', 'a.b', 'c'].map(prefix => `${prefix}.example.com`)
      const others = ['example.com', 'xexample.com', 'a.xexample.com', 'example.com.example.org', 'a.example.net']
      for (const domain of [...below, ...others].toSorted().reverse()) {
        await save(store, domain.startsWith('b') ? '2' : '1', [domain])
      }
      checkEqual('the names listed below example.com', await listDomains(store, { below: 'Example.com' }), below)
      checkEqual(
        'the pages below example.com',
        await listPages(store, { below: 'example.com', limit: 3 }, 'domain'),
        inThrees(below),
      )
      checkEqual(
        'the pages for team 1',
        await listPages(store, { below: 'example.com', teamId: '1', limit: 3 }, 'domain'),
        inThrees(below.filter(domain => !domain.startsWith('b'))),
      )
      const own = below.filter(domain => domain.startsWith('b'))
      checkEqual('the names listed for team 2', await listDomains(store, { below: 'example.com', teamId: '2' }), own)
      checkEqual(
        'the names listed below a.example.com',
        await listDomains(store, { below: 'a.example.com' }),
        below.slice(2, 4),
      )
      checkEqual('the names listed below c.example.com', await listIn(store, { below: 'c.example.com' }), [])
    },
  },
  {
    id: 'lists-nothing-for-wrong-options',
    name: 'MUST reject an invalid or unknown option of `list` with a TypeError',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com'])
      const wrong: readonly object[] = [
        { team: '1' },
        { teamId: 1 },
        { limit: -1 },
        { limit: 1.5 },
        { limit: MOST_AT_ONCE + 1 },
        { after: 7 },
        { order: 'up' },
        { domain: 'not a name' },
        { below: 'not a name' },
        { below: 'example.com', order: 'newest' },
        { below: 'example.com', domain: 'a.example.com' },
      ]
      for (const options of wrong) {
        await checkRejectsArgument(`list(${JSON.stringify(options)})`, () => listIn(store, options))
      }
    },
  },
  {
    id: 'lists-after-what-is-gone',
    name: 'MUST resume a list after an ID even if the registration with this ID has been released',
    needs: ['release'],
    async test({ open }) {
      const store = await open()
      const saved = await save(store, '1', manyDomains(6))
      await releaseDomains(store, '1', ['n1.com', 'n2.com', 'n4.com'])
      const page = await listIn(store, { after: saved[2]?.domainId })
      checkEqual('the names listed after n2.com', toDomains(page), ['n3.com', 'n5.com'])
      await releaseDomains(store, '1', ['n5.com'])
      const rest = await listIn(store, { order: 'newest', after: saved[4]?.domainId })
      checkEqual('the names listed after n4.com, newest first', toDomains(rest), ['n3.com', 'n0.com'])
    },
  },
]
