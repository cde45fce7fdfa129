import { attempt, lookUp, manyDomains, type ResultCode, toDomains } from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const CALLERS = 16
/** How many races of two a case runs, each for another registrable domain, with either caller first in turn. */
const ROUNDS = 16

const sorted = (codes: readonly (ResultCode | undefined)[]) => codes.toSorted().join(', ')

/** Starts calls at the same moment. */
const race = (store: SuiteStore, calls: readonly (readonly [teamId: string, domains: readonly string[]])[]) =>
  Promise.all(calls.map(([teamId, domains]) => attempt(store, teamId, domains)))

/** Races a wildcard of team 1 against a name below it, of team 1 or another. */
function wildcardRace(
  id: string,
  name: CaseDefinition['name'],
  rival: string,
  losses: readonly ResultCode[],
): CaseDefinition {
  return {
    id,
    name,
    async test({ open }) {
      const store = await open()
      const calls = manyDomains(ROUNDS).flatMap((domain, round) => {
        const pair = [['1', [`*.${domain}`]] as const, [rival, [`a.b.${domain}`]] as const]
        return round % 2 === 0 ? pair : pair.reverse()
      })
      const attempts = await race(store, calls)
      for (let round = 0; round < ROUNDS; round += 1) {
        const codes = attempts.slice(2 * round, 2 * round + 2).map(({ codes: [code] }) => code)
        const won = codes.filter(code => code === 'created').length
        const lost = codes.filter(code => code !== undefined && losses.includes(code)).length
        checkThat('of a wildcard and a name below it one is created and one refused', won === 1 && lost === 1, codes)
      }
      const domains = calls.flatMap(([, [domain = '']]) => domain)
      checkEqual('how many are registered', (await lookUp(store, '1', domains)).registrations.length, ROUNDS)
    },
  }
}

export const raceCases: readonly CaseDefinition[] = [
  {
    id: 'race-for-the-same-names',
    name: 'MUST register names once that a team submits in many calls at the same moment',
    async test({ open }) {
      const store = await open()
      const domains = ['example.com', 'www.example.com', 'example.org']
      const attempts = await race(store, Array(CALLERS).fill(['1', domains]))
      for (const [index, domain] of domains.entries()) {
        const codes = attempts.map(({ codes }) => codes[index])
        checkEqual(
          `what ${domain} is to each`,
          sorted(codes),
          sorted(['created', ...Array(CALLERS - 1).fill('existing')]),
        )
      }
      checkEqual('how many registrations were returned', attempts.flatMap(({ saved }) => saved).length, domains.length)
    },
  },
  {
    id: 'race-shows-what-was-saved',
    name: 'MUST show a call that comes second the registrations that the first one saved, IDs included',
    async test({ open }) {
      const store = await open()
      const attempts = await race(store, Array(CALLERS).fill(['1', ['example.com']]))
      const [winner] = attempts.flatMap(({ saved }) => saved)
      const beaten = attempts.filter(({ codes: [code] }) => code === 'existing')
      checkEqual('how many came second', beaten.length, CALLERS - 1)
      for (const { saved, found } of beaten) {
        checkEqual('what was saved by a call that found it taken', saved, [])
        checkEqual('what it found', found.registrations, [winner])
      }
    },
  },
  {
    id: 'race-between-teams',
    name: 'MUST give a name to one team when two submit it at the same moment',
    async test({ open }) {
      const store = await open()
      const calls = manyDomains(ROUNDS).flatMap((domain, round) => {
        const pair = [['1', [domain]] as const, ['2', [domain]] as const]
        return round % 2 === 0 ? pair : pair.reverse()
      })
      const attempts = await race(store, calls)
      for (let round = 0; round < ROUNDS; round += 1) {
        const codes = attempts.slice(2 * round, 2 * round + 2).map(({ codes: [code] }) => code)
        checkEqual('what a name is to two teams', sorted(codes), 'created, domain_already_licensed')
      }
    },
  },
  wildcardRace(
    'race-of-wildcard-and-name',
    'MUST register one of a wildcard and a name below it when a team submits both at the same moment',
    '1',
    ['wildcard_conflict', 'subdomain_conflict'],
  ),
  wildcardRace(
    'race-of-wildcard-and-name-between-teams',
    'MUST register one of a wildcard and a name below it when two teams submit them at the same moment',
    '2',
    ['domain_already_licensed'],
  ),
  {
    id: 'race-in-opposite-order',
    name: 'MUST serve calls for the same names in opposite order, without waiting in a circle',
    async test({ open }) {
      const store = await open()
      const forward = manyDomains(20)
      const backward = forward.toReversed()
      const attempts = await race(
        store,
        Array.from({ length: CALLERS }, (_, index) => ['1', index % 2 === 0 ? forward : backward]),
      )
      const saved = attempts.flatMap(attempt => toDomains(attempt.saved))
      checkEqual('what was saved by all', saved.toSorted(), forward.toSorted())
    },
  },
  {
    id: 'race-in-overlapping-batches',
    name: 'MUST serve calls that share some of their names, each name once',
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(CALLERS + 10)
      const attempts = await race(
        store,
        Array.from({ length: CALLERS }, (_, index) => ['1', domains.slice(index, index + 11)]),
      )
      for (const { codes, found, saved } of attempts) {
        checkEqual('names created or existing', saved.length + found.registrations.length, codes.length)
      }
      const saved = attempts.flatMap(attempt => toDomains(attempt.saved))
      checkEqual('what was saved by all', saved.toSorted(), domains.toSorted())
    },
  },
]
