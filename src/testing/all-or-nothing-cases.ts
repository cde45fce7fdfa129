import type { Name } from '../rules/name.ts'
import { attempt, createRequest, findDomains, lookUp, save, toDomains, toTestName } from './calls.ts'
import { checkEqual, checkRejects } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

const fail = () => {
  throw new Error('decide failed, on purpose')
}

/** A name whose `domain` throws when it is read, so the name cannot be saved. */
const unreadable: Name = {
  get domain(): string {
    throw new Error('this name cannot be read, on purpose')
  },
  registrableDomain: 'example.com',
}

export const allOrNothingCases: readonly CaseDefinition[] = [
  {
    id: 'rejects-when-decide-throws',
    name: 'MUST reject, and save nothing, when `decide` throws',
    async test({ open }) {
      const store = await open()
      const names = ['example.com', 'example.org'].map(toTestName)
      await checkRejects('register', async () => store.register(createRequest('1', names, [], fail)))
      checkEqual('the saved registrations', await findDomains(store, '1', toDomains(names)), [])
    },
  },
  {
    id: 'works-after-a-failure',
    name: 'MUST release all locks when `register` rejects, so the next call succeeds',
    async test({ open }) {
      const store = await open()
      const request = createRequest('1', ['example.com', 'example.org'].map(toTestName), [], fail)
      // Another case checks that the call rejects.
      await Promise.allSettled(
        [async () => store.register(request), async () => store.register(request)].map(call => call()),
      )
      const { codes } = await attempt(store, '1', ['example.org', 'example.com'])
      checkEqual('the codes of the same names afterwards', codes, ['created', 'created'])
    },
  },
  {
    id: 'saves-all-or-nothing',
    name: 'MUST save no name of a call if one of its names cannot be saved',
    async test({ open }) {
      const store = await open()
      const names = ['a.example.com', 'b.example.com', 'c.example.com'].map(toTestName)
      const decided = [...names.slice(0, 2), unreadable, ...names.slice(2)]
      await checkRejects('register', async () => store.register(createRequest('1', names, [], () => decided)))
      checkEqual('the saved registrations', await findDomains(store, '1', toDomains(names)), [])
    },
  },
  {
    id: 'saves-the-last-decision',
    name: 'MUST save the names that the last call of `decide` returns if `register` calls `decide` several times',
    async test({ open }) {
      const store = await open()
      const rivals = Array.from({ length: 4 }, async (_, caller) => {
        const versions = Array.from({ length: 50 }, (_, run) => toTestName(`run-${run}.caller-${caller}.example.com`))
        let runs = 0
        const { saved } = await store.register(
          createRequest('1', versions, [], () => versions.slice(runs++).slice(0, 1)),
        )
        checkEqual('the returned registrations', toDomains(saved), toDomains(versions.slice(runs - 1, runs)))
        checkEqual('the saved registrations', (await lookUp(store, '1', toDomains(versions))).registrations, saved)
      })
      await Promise.all(rivals)
    },
  },
  {
    id: 'save-does-not-replace',
    name: 'MUST NOT let a failing call change existing registrations',
    async test({ open }) {
      const names = ['a.example.com', '*.b.example.org', 'c.example.com'].map(toTestName)
      for (const decide of [fail, () => [...names.slice(2), unreadable]]) {
        const store = await open()
        const before = await save(store, '2', names.slice(0, 2))
        await Promise.allSettled([(async () => store.register(createRequest('1', names, [], decide)))()])
        const { registrations } = await lookUp(store, '2', toDomains(names.slice(0, 2)))
        checkEqual('the registrations', registrations, before)
      }
    },
  },
]
