import type { LookUpResult } from '../rules/registration.ts'
import type { LookUp } from '../store/contract.ts'
import { findDomains, inOrderOf, lookUp, methodOf, save, toDomains } from './calls.ts'
import { checkEqual, checkRejects, UnmetExpectation } from './check.ts'
import { openMonitored, pause, runSweep, SOON } from './monitor.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

async function findIn(store: SuiteStore, question: LookUp): Promise<LookUpResult> {
  return inOrderOf(question.domains, await methodOf(store, 'find')(question))
}

export const findCases: readonly CaseDefinition[] = [
  {
    id: 'finds-what-register-finds',
    name: 'MUST return from `find` the same registrations that `register` passes to `decide`',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['example.com', '*.a.example.com', 'www.example.com', 'x.www.example.com', '8.8.8.8'])
      await save(store, '2', ['b.example.com', '*.example.org', 'www.example.net'])
      const domains = ['www.example.com', '*.example.org', 'a.example.org', '*.a.example.com', '8.8.8.8', 'missing.com']
      const bases = ['example.net', 'example.com', 'www.example.com', 'a.example.com', 'missing.com']
      for (const teamId of ['1', '2']) {
        const sortBelow = ({ registrations, below }: LookUpResult) => ({
          registrations,
          below: below.map(each => ({ ...each, ownDomains: each.ownDomains.toSorted() })),
        })
        const found = await findIn(store, { teamId, domains, bases })
        checkEqual(
          `the registrations found for team ${teamId}`,
          sortBelow(found),
          sortBelow(await lookUp(store, teamId, domains, bases)),
        )
      }
      const nothing = await findIn(store, { teamId: '1', domains: [], bases: [] })
      checkEqual('the findings of an empty query', nothing, { registrations: [], below: [] })
    },
  },
  {
    id: 'find-registers-nothing',
    name: 'MUST NOT register anything or modify the query in `find`',
    async test({ open }) {
      const store = await open()
      const domains = Object.freeze(['b.com', 'a.com'])
      const question = Object.freeze({ teamId: '1', domains, bases: Object.freeze(['b.com', 'a.com']) })
      for (const _ of ['first', 'second']) {
        checkEqual('the registrations found', toDomains((await findIn(store, question)).registrations), [])
      }
      checkEqual('the registrations', await findDomains(store, '1', domains), [])
    },
  },
  {
    id: 'find-extends-no-lease',
    name: 'MUST NOT lease the registrations that `find` returns, so that a sweep still pushes them',
    needs: ['synchronize', 'synchronizePending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, { synchronizeTimeLimit: SOON })
      await save(store, '1', ['a.com'])
      for (let turns = 0; turns < 100; turns += 1) {
        await findIn(store, { teamId: '1', domains: ['a.com'], bases: ['b.com'] })
        await runSweep(store)
        if (monitor.accepted.length > 0) return
        await pause(SOON / 10)
      }
      throw new UnmetExpectation('expected a sweep to push what `find` returned, got 100 sweeps that did not')
    },
  },
]

export const getCases: readonly CaseDefinition[] = [
  {
    id: 'gets-by-id',
    name: 'MUST return from `get` the registration with exactly this ID, of any team, as `register` returned it',
    async test({ open }) {
      const store = await open()
      const get = async (domainId: string) => methodOf(store, 'get')(domainId)
      const [name, wildcard] = await save(store, '1', ['a.com', '*.b.com'])
      const [others] = await save(store, '2', ['c.com'])
      for (const saved of [name, wildcard, others])
        checkEqual(`the registration of ${saved?.domain}`, await get(String(saved?.domainId)), saved)
      const id = String(name?.domainId)
      const missing = (id.startsWith('0') ? 'f' : '0') + id.slice(1)
      for (const unknown of ['', 'a.com', `${id}0`, missing, `' OR 1 = 1 --`])
        checkEqual(`the registration with the ID ${JSON.stringify(unknown)}`, await get(unknown), null)
      await methodOf(store, 'release')('1', ['a.com'])
      checkEqual('the registration once it has been released', await get(id), null)
      await checkRejects('an ID that is a number', () => get(7 as unknown as string))
    },
  },
]
