import type { Name } from '../rules/name.ts'
import { lookUp, methodOf, type ResultCode, save, submitForCodes, toDomains } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

/*
 * The Public Suffix List changes, and names that were registered under another version stay registered. `github.io` was
 * a registrable domain like any other, until it became a public suffix. A name below `example.com` may have been
 * registered while a public suffix separated it from `example.com`.
 */

const before = (domain: string): Name => ({ domain, registrableDomain: 'github.io' })
const behind = (domain: string): Name => ({ domain, registrableDomain: 'shop.platform.example.com' })

/** A name below a top-level domain that is no longer in any suffix list. */
const gone = (domain: string): Name => ({ domain, registrableDomain: 'xn--bcher-kva.gone' })

/** The expected result if team 1 submits a name after a team registered a name under another suffix list. */
type Row = readonly [code: ResultCode, submitted: string, teamId: string, held: Name]

const rows: readonly Row[] = [
  ['existing', 'me.github.io', '1', before('me.github.io')],
  ['existing', 'github.io', '1', before('github.io')],
  ['existing', '*.GitHub.io.', '1', before('*.github.io')],
  ['public_suffix_domain', '*.github.io', '2', before('*.github.io')],
  ['public_suffix_domain', '*.github.io', '1', before('github.io')],
  ['existing', 'www.bücher.gone', '1', gone('www.xn--bcher-kva.gone')],
  ['internal_domain', 'www.bücher.gone', '2', gone('www.xn--bcher-kva.gone')],
  ['domain_already_licensed', 'me.github.io', '2', before('me.github.io')],
  ['wildcard_conflict', 'me.github.io', '1', before('*.github.io')],
  ['domain_already_licensed', 'www.me.github.io', '2', before('*.github.io')],
  ['domain_already_licensed', '*.me.github.io', '2', before('*.github.io')],
  ['subdomain_conflict', '*.me.github.io', '1', before('www.me.github.io')],
  ['domain_already_licensed', '*.me.github.io', '2', before('*.www.me.github.io')],
  ['created', 'you.github.io', '2', before('me.github.io')],
  ['existing', 'www.shop.platform.example.com', '1', behind('www.shop.platform.example.com')],
  ['subdomain_conflict', '*.example.com', '1', behind('www.shop.platform.example.com')],
  ['domain_already_licensed', '*.example.com', '2', behind('shop.platform.example.com')],
  ['domain_already_licensed', '*.platform.example.com', '2', behind('*.shop.platform.example.com')],
  ['wildcard_conflict', 'a.b.shop.platform.example.com', '1', behind('*.shop.platform.example.com')],
  ['created', '*.www.shop.platform.example.com', '2', behind('shop.platform.example.com')],
]

const inherited = [before('*.github.io'), before('me.github.io'), behind('www.shop.platform.example.com')]

export const suffixListCases: readonly CaseDefinition[] = [
  {
    id: 'suffix-list-found',
    name: 'MUST find names that were registered under another suffix list, and keep their registrable domains',
    async test({ open }) {
      const store = await open()
      await save(store, '1', inherited)
      const { registrations } = await lookUp(store, '2', toDomains(inherited), ['github.io'])
      checkEqual(
        'the registrations found',
        registrations.map(({ domain, registrableDomain }) => ({ domain, registrableDomain })),
        inherited,
      )
      const { below } = await lookUp(store, '1', [], ['me.github.io', 'platform.example.com'])
      checkEqual(
        'the names below the bases',
        below.map(({ ownDomains, behindSuffixes }) => [...ownDomains, ...toDomains(behindSuffixes)]),
        [[], ['www.shop.platform.example.com']],
      )
    },
  },
  {
    id: 'suffix-list-conflicts',
    name: 'MUST apply the overlap rules to names that were registered under another suffix list',
    async test({ open }) {
      for (const [code, submitted, teamId, held] of rows) {
        const store = await open()
        await save(store, teamId, [held])
        const codes = await submitForCodes(store, '1', [submitted])
        checkEqual(`the code of ${submitted} while team ${teamId} has ${held.domain}`, codes, [code])
      }
    },
  },
  {
    id: 'suffix-list-released',
    name: 'MUST release names that were registered under another suffix list, by name and by ID',
    needs: ['release'],
    async test({ open }) {
      for (const by of ['domain', 'domainId'] as const) {
        const store = await open()
        const saved = await save(store, '1', inherited)
        const released = await methodOf(store, 'release')(
          '1',
          saved.map(registration => registration[by]),
        )
        checkEqual(`the names released by ${by}`, toDomains(released).toSorted(), toDomains(inherited).toSorted())
        const codes = await submitForCodes(store, '2', ['me.github.io', '*.example.com'])
        checkEqual('the codes of the names for another team', codes, ['created', 'created'])
      }
    },
  },
]
