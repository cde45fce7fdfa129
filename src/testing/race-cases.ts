import {
  attempt,
  createRequest,
  findDomains,
  manyDomains,
  methodOf,
  type ResultCode,
  save,
  toDomains,
  toTestName,
} from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import { pause } from './monitor.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const CALLERS = 16
/**
 * How many times a case lets two callers race, each time for a different registrable domain. The two callers take turns
 * starting first.
 */
const ROUNDS = 16

const sorted = (codes: readonly (ResultCode | undefined)[]) => codes.toSorted().join(', ')

/** Starts calls at the same moment. */
const race = (store: SuiteStore, calls: readonly (readonly [teamId: string, domains: readonly string[]])[]) =>
  Promise.all(calls.map(([teamId, domains]) => attempt(store, teamId, domains)))

/** The prefix and the team of each name that was registered, in each registrable domain, before the race. */
interface Past {
  readonly held?: readonly (readonly [teamId: string, prefix: string])[]
  /** Whether these names were released before the race. */
  readonly isReleased?: boolean
}

/**
 * Races a wildcard of team 1 against a name below it, submitted by team 1 or another team. If names are already
 * registered in the registrable domain, neither call writes a row that the other call reads. So no unique key stops the
 * second call: the store itself must stop it.
 */
function wildcardRace(
  id: string,
  name: CaseDefinition['name'],
  rival: string,
  losses: readonly ResultCode[],
  { held = [], isReleased = false }: Past = {},
): CaseDefinition {
  return {
    id,
    name,
    ...(isReleased && { needs: ['release'] as const }),
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(ROUNDS)
      for (const [teamId, prefix] of held) {
        const past = domains.map(domain => `${prefix}${domain}`)
        await save(store, teamId, past)
        if (isReleased) await methodOf(store, 'release')(teamId, past)
      }
      const calls = domains.flatMap((domain, round) => {
        const pair = [['1', [`*.${domain}`]] as const, [rival, [`a.b.${domain}`]] as const]
        return round % 2 === 0 ? pair : pair.reverse()
      })
      const attempts = await race(store, calls)
      for (let round = 0; round < ROUNDS; round += 1) {
        const codes = attempts.slice(2 * round, 2 * round + 2).map(({ codes: [code] }) => code)
        const won = codes.filter(code => code === 'created').length
        const lost = codes.filter(code => code !== undefined && losses.includes(code)).length
        checkThat(
          'either the wildcard or the name below it is created, and the other is rejected',
          won === 1 && lost === 1,
          codes,
        )
      }
      const raced = calls.flatMap(([, [domain = '']]) => domain)
      checkEqual('the number of registrations', (await findDomains(store, '1', raced)).length, ROUNDS)
    },
  }
}

/** Busy-waits in `decide`, so that later calls wait for the locks of this call. */
function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

export const raceCases: readonly CaseDefinition[] = [
  {
    id: 'race-for-the-same-names',
    name: 'MUST register each name once when one team submits it in simultaneous calls',
    async test({ open }) {
      const store = await open()
      const domains = ['example.com', 'www.example.com', 'example.org']
      const attempts = await race(store, Array(CALLERS).fill(['1', domains]))
      for (const [index, domain] of domains.entries()) {
        const codes = attempts.map(({ codes }) => codes[index])
        checkEqual(`the codes of ${domain}`, sorted(codes), sorted(['created', ...Array(CALLERS - 1).fill('existing')]))
      }
      checkEqual('how many registrations were returned', attempts.flatMap(({ saved }) => saved).length, domains.length)
    },
  },
  {
    id: 'race-shows-what-was-saved',
    name: 'MUST let a call that loses a race find the registrations of the winning call, with their IDs',
    async test({ open }) {
      const store = await open()
      const attempts = await race(store, Array(CALLERS).fill(['1', ['example.com']]))
      const [winner] = attempts.flatMap(({ saved }) => saved)
      const beaten = attempts.filter(({ codes: [code] }) => code === 'existing')
      checkEqual('how many calls lost', beaten.length, CALLERS - 1)
      for (const { saved, found } of beaten) {
        checkEqual('the registrations saved by a losing call', saved, [])
        checkEqual('the registrations found by a losing call', found.registrations, [winner])
      }
    },
  },
  {
    id: 'race-between-teams',
    name: 'MUST register a name for only one team when two teams submit it in simultaneous calls',
    async test({ open }) {
      const store = await open()
      const calls = manyDomains(ROUNDS).flatMap((domain, round) => {
        const pair = [['1', [domain]] as const, ['2', [domain]] as const]
        return round % 2 === 0 ? pair : pair.reverse()
      })
      const attempts = await race(store, calls)
      for (let round = 0; round < ROUNDS; round += 1) {
        const codes = attempts.slice(2 * round, 2 * round + 2).map(({ codes: [code] }) => code)
        checkEqual('the codes of a name for two teams', sorted(codes), 'created, domain_already_licensed')
      }
    },
  },
  wildcardRace(
    'race-of-wildcard-and-name',
    'MUST register exactly one of a wildcard and a name below it if one team submits both in simultaneous calls',
    '1',
    ['wildcard_conflict', 'subdomain_conflict'],
  ),
  wildcardRace(
    'race-of-wildcard-and-name-between-teams',
    'MUST register exactly one of a wildcard and a name below it if two teams submit one each in simultaneous calls',
    '2',
    ['domain_already_licensed'],
  ),
  wildcardRace(
    'race-below-a-held-name',
    "MUST register exactly one of a wildcard and a name below it if the base's team submits both in simultaneous calls",
    '1',
    ['wildcard_conflict', 'subdomain_conflict'],
    { held: [['1', '']] },
  ),
  wildcardRace(
    'race-of-teams-below-a-held-name',
    "MUST register exactly one of a wildcard and a name below it if the base's team races against another team",
    '2',
    ['domain_already_licensed'],
    { held: [['2', '']] },
  ),
  wildcardRace(
    'race-where-names-were-released',
    'MUST register exactly one of a wildcard and a name below it in simultaneous calls after other names were released',
    '1',
    ['wildcard_conflict', 'subdomain_conflict'],
    {
      held: [
        ['2', 'b.'],
        ['1', ''],
      ],
      isReleased: true,
    },
  ),
  {
    id: 'race-in-opposite-order',
    name: 'MUST NOT deadlock when calls list the same names in opposite order',
    async test({ open }) {
      const store = await open()
      const forward = manyDomains(20)
      const backward = forward.toReversed()
      const attempts = await race(
        store,
        Array.from({ length: CALLERS }, (_, index) => ['1', index % 2 === 0 ? forward : backward]),
      )
      const saved = attempts.flatMap(attempt => toDomains(attempt.saved))
      checkEqual('the names saved by all calls', saved.toSorted(), forward.toSorted())
    },
  },
  {
    id: 'race-in-overlapping-batches',
    name: 'MUST register each name once when simultaneous calls share some of their names',
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(CALLERS + 10)
      const attempts = await race(
        store,
        Array.from({ length: CALLERS }, (_, index) => ['1', domains.slice(index, index + 11)]),
      )
      for (const { codes, found, saved } of attempts) {
        checkEqual('the number of created and existing names', saved.length + found.registrations.length, codes.length)
      }
      const saved = attempts.flatMap(attempt => toDomains(attempt.saved))
      checkEqual('the names saved by all calls', saved.toSorted(), domains.toSorted())
    },
  },
  {
    id: 'time-limit-is-kept',
    name: 'MUST end a call of `register` within its time limit, and save none of its names after that',
    async test({ open }) {
      const store = await open()
      const [blocked, timeLimit, tolerance] = [50, 20, 250]
      const names = Array.from({ length: 8 }, (_, caller) => toTestName(`caller-${caller}.example.com`))
      const calls = await Promise.all(
        names.map(async name => {
          const begun = performance.now()
          let decided = begun
          const decide = () => {
            decided = performance.now()
            spin(blocked)
            return [name]
          }
          const call = async () => store.register({ ...createRequest('1', [name], [], decide), timeLimit })
          const [outcome] = await Promise.allSettled([call()])
          return { name, isSaved: outcome.status === 'fulfilled', late: decided - begun - timeLimit }
        }),
      )
      const tooLate = calls.filter(({ isSaved, late }) => isSaved && late > tolerance)
      checkEqual('how many calls succeeded though `decide` ran too late', tooLate.length, 0)
      await pause(2 * blocked)
      const expected = calls.filter(({ isSaved }) => isSaved).map(({ name }) => name)
      checkEqual('the registrations in the end', await findDomains(store, '1', toDomains(names)), toDomains(expected))
    },
  },
]
