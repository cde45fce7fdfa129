import { NOTHING_BELOW, type Registration } from '../rules/registration.ts'
import {
  createRequest,
  findDomains,
  lookUp,
  manyDomains,
  save,
  submit,
  toDomains,
  toTestName,
  toTestRegistration,
} from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

const pick = ({ domain, registrableDomain, teamId }: Registration) => ({ domain, registrableDomain, teamId })

export const registrationCases: readonly CaseDefinition[] = [
  {
    id: 'begins-empty',
    name: 'MUST start without registrations, even if an earlier store saved some',
    async test({ open }) {
      const domains = ['left-over.com', '*.left-over.com', 'a.b.left-over.com']
      await save(await open(), '1', domains)
      const { registrations, below } = await lookUp(await open(), '1', domains, ['left-over.com'])
      checkEqual('the registrations in a second store', toDomains(registrations), [])
      checkEqual('the names below left-over.com in a second store', below, [NOTHING_BELOW])
    },
  },
  {
    id: 'registers-a-hundred-names',
    name: 'MUST register a hundred names in one call, including short ones, and find them all',
    async test({ open }) {
      const store = await open()
      const many = manyDomains(99).map((domain, index) => `${['www', 'a.b.c', '*'][index % 3]}.${domain}`)
      const domains = ['t.co', ...many]
      checkEqual('the saved registrations', toDomains(await save(store, '1', domains)), domains)
      checkEqual('the registrations found', await findDomains(store, '2', domains), domains)
    },
  },
  {
    id: 'registers-nothing',
    name: 'MUST return no registrations from `register`, and save none, when `decide` returns no names',
    async test({ open }) {
      const store = await open()
      const names = [toTestName('example.com')]
      checkEqual('the saved registrations', (await store.register(createRequest('1', names, [], () => []))).saved, [])
      checkEqual('the registrations found', await findDomains(store, '1', toDomains(names)), [])
    },
  },
  {
    id: 'registers-only-what-decide-returns',
    name: 'MUST save exactly the names that `decide` returns, even if more names were looked up',
    async test({ open }) {
      const store = await open()
      const names = ['a.com', 'b.com', 'c.com'].map(toTestName)
      const { saved } = await store.register(createRequest('1', names, [], () => names.slice(1, 2)))
      checkEqual('the saved registrations', toDomains(saved), ['b.com'])
      checkEqual('the registrations found', await findDomains(store, '1', toDomains(names)), ['b.com'])
    },
  },
  {
    id: 'returns-in-the-order-decided',
    name: 'MUST return the registrations in the order in which `decide` returned their names',
    async test({ open }) {
      const store = await open()
      const names = ['b.com', 'a.com', '*.c.com', 'd.a.com', 'b.a.com'].map(toTestName)
      const decided = ['d.a.com', '*.c.com', 'b.com', 'b.a.com', 'a.com'].map(toTestName)
      const { saved } = await store.register(createRequest('1', names, ['c.com'], () => decided))
      checkEqual('the returned registrations', toDomains(saved), toDomains(decided))
    },
  },
  {
    id: 'returns-whole-registrations',
    name: 'MUST return registrations with all fields',
    async test({ open }) {
      const british = { domain: 'www.example.co.uk', registrableDomain: 'example.co.uk' }
      const names = [...['www.example.com', '*.example.org', 'a.b.example.net'].map(toTestName), british]
      const saved = await save(await open(), '2', names)
      checkEqual(
        'the returned registrations',
        saved.map(pick),
        names.map(name => ({ ...name, teamId: '2' })),
      )
      for (const { domainId, synchronized } of saved) {
        checkThat('domainId is a non-empty string', typeof domainId === 'string' && domainId !== '', domainId)
        checkThat('synchronized is true or false', typeof synchronized === 'boolean', synchronized)
      }
    },
  },
  {
    id: 'returns-no-other-fields',
    name: 'SHOULD NOT return registrations with extra fields, because applications might come to rely on these fields',
    async test({ open }) {
      const store = await open()
      const fields = Object.keys(toTestRegistration('example.com')).sort()
      const saved = await save(store, '1', ['example.com'])
      const { registrations } = await lookUp(store, '1', ['example.com'])
      for (const registration of [...saved, ...registrations]) {
        checkEqual('the fields of a registration', Object.keys(registration).sort(), fields)
      }
    },
  },
  {
    id: 'finds-what-it-returned',
    name: 'MUST find a registration exactly as `register` returned it, even in a call of another team',
    async test({ open }) {
      const store = await open()
      const domains = ['www.example.com', '*.example.org']
      const saved = await save(store, '1', domains)
      for (const teamId of ['1', '2']) {
        checkEqual(
          `the registrations found for team ${teamId}`,
          (await lookUp(store, teamId, domains)).registrations,
          saved,
        )
      }
    },
  },
  {
    id: 'ids-are-unique',
    name: 'MUST give each registration a unique ID',
    async test({ open }) {
      const store = await open()
      const calls = await Promise.all(
        ['a.', 'b.', 'c.', 'd.'].map((prefix, index) => save(store, index % 2 ? '1' : '2', manyDomains(50, prefix))),
      )
      const ids = calls.flat().map(({ domainId }) => domainId)
      checkEqual('how many IDs 200 registrations have', new Set(ids).size, 200)
    },
  },
  {
    id: 'ids-are-stable',
    name: 'MUST keep the ID of a registration when other names are registered later',
    async test({ open }) {
      const store = await open()
      const ids = async () => (await submit(store, '1', ['www.example.com', '*.example.org'])).map(idOf)
      const first = await ids()
      await submit(store, '1', ['a.example.com', 'example.org', 'example.com'])
      await submit(store, '2', ['b.example.com', 'www.example.com'])
      checkEqual('the IDs of names that are registered again', await ids(), first)
    },
  },
  {
    id: 'duplicates-share-one-registration',
    name: 'MUST register a name only once if one call contains it several times',
    async test({ open }) {
      const store = await open()
      const results = await submit(store, '1', [
        'www.example.com',
        'WWW.Example.COM.',
        'example.com',
        'www.example.com',
      ])
      checkEqual(
        'the codes of the results',
        results.map(({ status }) => status),
        ['created', 'existing', 'created', 'existing'],
      )
      checkEqual('the number of different IDs', new Set(results.map(idOf)).size, 2)
    },
  },
  {
    id: 'request-is-left-alone',
    name: 'MUST NOT modify the request that `register` gets',
    async test({ open }) {
      const store = await open()
      const names = Object.freeze(['c.com', '*.a.com', 'b.com'].map(name => Object.freeze(toTestName(name))))
      const bases = Object.freeze(['a.com'])
      const request = createRequest('1', names, bases, () => names)
      Object.freeze(request.registrableDomains)
      Object.freeze(request.domains)
      const { saved } = await store.register(Object.freeze(request))
      checkEqual('the saved registrations', toDomains(saved), toDomains(names))
    },
  },
]

const idOf = (result: object) => ('domainId' in result ? result.domainId : undefined)
