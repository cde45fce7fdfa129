import { createImportRequest } from '../operations/create-request.ts'
import { changeOf } from '../outbox/contract.ts'
import type { Change, ImportFindings, Registration } from '../rules/registration.ts'
import { attempt, manyDomains, methodOf, save, toDomains, toTestRegistration } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'
import { toKept } from './transfer-cases.ts'

const importInto = async (store: SuiteStore, rows: readonly Registration[]): Promise<ImportFindings> =>
  methodOf(
    store,
    'import',
  )(
    createImportRequest(
      rows,
      rows.map(({ registrableDomain }) => registrableDomain),
    ),
  )

export const importCases: readonly CaseDefinition[] = [
  {
    id: 'imports-as-given',
    name: 'MUST import registrations with their IDs, registrable domains, teams and times',
    async test({ open }) {
      const store = await open()
      const rows = [
        toTestRegistration('www.example.com'),
        toTestRegistration('*.example.org', { teamId: '2', createdAt: new Date(1) }),
        toTestRegistration('a.b.example.net', { registrableDomain: 'b.example.net', teamId: '77' }),
        toTestRegistration('example.com', { createdAt: new Date(2) }),
      ]
      await importInto(store, rows.toReversed())
      const list = methodOf(store, 'list')
      checkEqual('the listed registrations', await list(), rows)
      const own = rows.filter(({ teamId }) => teamId === '1')
      checkEqual('the names listed for team 1', await list({ teamId: '1' }), own)
      const newest = [await list({ order: 'newest' }), await list({ teamId: '1', order: 'newest' })]
      checkEqual('the list with the newest ID first', newest, [rows.toReversed(), own.toReversed()])
    },
  },
  {
    id: 'import-finds-ids',
    name: 'MUST report which IDs of an import are already used by registrations or pending changes',
    async test({ open }) {
      const store = await open(() => {})
      const [held, released, free] = [
        toTestRegistration('a.com'),
        toTestRegistration('b.com'),
        toTestRegistration('c.com'),
      ]
      await importInto(store, [held, released])
      await methodOf(store, 'release')('1', ['b.com'])
      const again = [held, released, free].map(({ domainId }, index) =>
        toTestRegistration(`d${index}.com`, { domainId }),
      )
      const { takenIds } = await importInto(store, again)
      checkEqual('the IDs in use', takenIds.toSorted(), [held.domainId, released.domainId])
      const all = await methodOf(store, 'list')()
      checkEqual('the registrations', toDomains(all), ['a.com', 'd2.com'])
    },
  },
  {
    id: 'import-tells-the-monitor-the-rest',
    name: 'MUST push the unsynchronized registrations of an import, each with its team and time, and no others',
    async test({ open }) {
      const pushed: Change[] = []
      const store = await open(changes => pushed.push(...changes))
      const known = toTestRegistration('a.com')
      const unknown = [
        toTestRegistration('b.com', { synchronized: false }),
        toTestRegistration('a.b.example.net', { registrableDomain: 'b.example.net', synchronized: false, teamId: '2' }),
      ]
      await importInto(store, [known, ...unknown])
      checkEqual('how many changes are pending', await methodOf(store, 'countPending')(), 2)
      await methodOf(store, 'synchronizePending')()
      checkEqual(
        'the pushed changes',
        pushed.toSorted((one, other) => (one.domainId < other.domainId ? -1 : 1)),
        unknown.map(each => changeOf(each, 'registered')),
      )
    },
  },
  {
    id: 'import-and-release-without-a-monitor',
    name: 'MUST record the release or transfer of a pending registration even if the store does not push',
    needs: ['listPending', 'transfer'],
    async test({ open }) {
      const store = await open()
      const rows = [
        toTestRegistration('a.com', { synchronized: false }),
        toTestRegistration('b.com', { synchronized: false }),
      ]
      await importInto(store, rows)
      await methodOf(store, 'release')('1', ['a.com'])
      const request = { from: '1', to: '2', domains: ['b.com'], needsCount: false, decide: () => true }
      const { saved } = await methodOf(store, 'transfer')(request)
      const pending = await methodOf(store, 'listPending')()
      checkEqual(
        'the pending changes',
        pending.map(({ kind, domainId }) => `${domainId} ${kind}`).toSorted(),
        [...rows.map(({ domainId }) => `${domainId} released`), `${saved[0]?.domainId} registered`].toSorted(),
      )
      checkEqual('what a transfer keeps of an imported registration', saved.map(toKept), rows.slice(1).map(toKept))
    },
  },
  {
    id: 'import-and-calls-exclude-each-other',
    name: 'MUST NOT save overlapping names when an import and a call run simultaneously',
    async test({ open }) {
      const store = await open()
      for (const domain of manyDomains(10)) {
        await save(store, '2', [`other.${domain}`])
        const [, { codes }] = await Promise.all([
          importInto(store, [toTestRegistration(`a.${domain}`)]),
          attempt(store, '2', [`a.${domain}`, `b.a.${domain}`]),
          importInto(store, [toTestRegistration(`a.${domain}`)]),
        ])
        const listed = await methodOf(store, 'list')({ domain: `a.${domain}` })
        checkEqual(`the team of "a.${domain}"`, toTeams(listed), codes[0] === 'created' ? ['2'] : ['1'])
      }
      const wildcards = manyDomains(10, 'w')
      for (const domain of wildcards) {
        await save(store, '2', [`${domain}`])
        await Promise.all([
          importInto(store, [toTestRegistration(`*.${domain}`)]),
          attempt(store, '2', [`a.${domain}`]),
        ])
      }
      const all = await methodOf(store, 'list')()
      const both = wildcards.filter(domain => all.filter(each => each.domain.endsWith(`.${domain}`)).length !== 1)
      checkEqual('the bases with no name or more than one name below them', both, [])
    },
  },
]

const toTeams = (registrations: readonly Registration[]) => registrations.map(({ teamId }) => teamId)
