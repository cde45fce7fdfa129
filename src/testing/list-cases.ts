import type { ListOptions } from '../registry/store.ts'
import { lookUp, manyDomains, save, toDomains } from './calls.ts'
import { checkEqual, UnmetExpectation } from './check.ts'
import { synchronize } from './monitor.ts'
import { release } from './release-cases.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const list = async (store: SuiteStore, options?: ListOptions) => {
  if (!store.list) throw new UnmetExpectation('expected a method list, got none')
  return store.list(options)
}

export const listCases: readonly CaseDefinition[] = [
  {
    id: 'lists-in-order',
    name: 'MUST list registrations in the order in which they were made, as they are found',
    needs: ['list'],
    async test({ open }) {
      const store = await open()
      checkEqual('what an empty store lists', await list(store), [])
      const domains = ['c.com', '*.a.com', 'd.com', 'x.c.com']
      for (const domain of domains) await save(store, domain === 'd.com' ? '2' : '1', [domain])
      checkEqual('what is listed', await list(store), (await lookUp(store, '1', domains)).registrations)
    },
  },
  {
    id: 'lists-a-call-in-order',
    name: 'MUST list the registrations of one call in the order in which decide returned their names',
    needs: ['list'],
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(50).reverse()
      await save(store, '1', domains)
      checkEqual('what is listed', toDomains(await list(store)), domains)
    },
  },
  {
    id: 'lists-a-team',
    name: "MUST list one team's registrations if that is asked for",
    needs: ['list'],
    async test({ open }) {
      const store = await open()
      for (const [index, domain] of manyDomains(9).entries()) await save(store, String((index % 3) + 1), [domain])
      for (const [teamId, expected] of [
        ['2', ['n1.com', 'n4.com', 'n7.com']],
        ['77', []],
      ] as const) {
        checkEqual(`what is listed for team ${teamId}`, toDomains(await list(store, { teamId })), expected)
      }
    },
  },
  {
    id: 'lists-by-page',
    name: 'MUST list at most limit registrations, those after the one that is named',
    needs: ['list'],
    async test({ open }) {
      const store = await open()
      for (const [index, domain] of manyDomains(14).entries()) await save(store, String((index % 2) + 1), [domain])
      for (const teamId of [undefined, '1']) {
        const all = await list(store, { teamId })
        const pages: string[][] = []
        for (let after: string | undefined; pages.length < 9; ) {
          const page = await list(store, { teamId, after, limit: 3 })
          pages.push(toDomains(page))
          after = page.at(-1)?.domainId
          if (page.length < 3) break
        }
        const expected = toDomains(all)
        const inThrees = Array.from({ length: Math.floor(expected.length / 3) + 1 }, (_, page) =>
          expected.slice(3 * page, 3 * page + 3),
        )
        checkEqual(`the pages for team ${teamId ?? 'any'}`, pages, inThrees)
      }
    },
  },
  {
    id: 'lists-after-what-is-gone',
    name: 'MUST go on after a registration that has been released since',
    needs: ['list', 'release'],
    async test({ open }) {
      const store = await open()
      const saved = await save(store, '1', manyDomains(6))
      await release(store, '1', ['n1.com', 'n2.com', 'n4.com'])
      const page = await list(store, { after: saved[2]?.domainId })
      checkEqual('what is listed after n2.com', toDomains(page), ['n3.com', 'n5.com'])
    },
  },
  {
    id: 'lists-what-is-synchronized',
    name: 'MUST say of what it lists whether it is synchronized',
    needs: ['list', 'synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await synchronize(store, saved.slice(1))
      checkEqual(
        'synchronized, of what is listed',
        (await list(store)).map(({ synchronized }) => synchronized),
        [false, true],
      )
    },
  },
]
