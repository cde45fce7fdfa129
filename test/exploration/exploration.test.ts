import { describe, expect, test } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import type { Outbox, PendingChange } from '../../src/outbox/contract.ts'
import { NOTHING_BELOW } from '../../src/rules/registration.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import type { StoreBackend } from '../../src/store/managed-store.ts'
import { isLong, isLonger } from '../counts.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { exploreScenario } from './explore-scenario.ts'
import { longScenarios } from './long-scenarios.ts'
import { type ScenarioName, scenarios } from './scenarios.ts'

/** The number of states of each scenario. Update it when a change makes the exploration try more or fewer orders. */
const states: Readonly<Record<ScenarioName, number>> = {
  'two teams register names that overlap': 126,
  'a wildcard is released while another team registers below it': 193,
  'a name is registered twice and released': 549,
  'a name is registered and released during a sweep': 364,
  'a name moves to another team during a sweep': 606,
  'a push succeeds in part': 296,
  'a failed push is made due during a release': 425,
  'calls of one team reach its limit': 80,
  'the application is asked about names that another team releases and registers': 61,
  'a name is imported, registered and released': 540,
  'a name is transferred twice and released': 6271,
  'a transfer and a call reach a limit': 149,
}
const names = Object.keys(states) as ScenarioName[]
/** The small scenarios. Each of the others takes a second or more. */
const small = names.filter(name => states[name] < 300)

const TIME_LIMIT = 600_000

describe('in every order of steps, no overlapping names are saved and no change is lost', () => {
  test.each(isLong ? names : small)('in the scenario "%s"', { timeout: TIME_LIMIT }, async name => {
    expect(await exploreScenario(scenarios[name], createMemoryBackend)).toEqual({ states: states[name] })
  })

  // The longest of these scenarios, too, is part of the week's run.
  const ofLandings = longScenarios.filter(({ states }) => isLonger || states < 5000)
  const named = ofLandings.map(scenario => [scenario.name, scenario] as const)
  if (isLong)
    test.each(named)('in the scenario "%s"', { timeout: TIME_LIMIT }, async (_, scenario) => {
      expect(await exploreScenario(scenario, createMemoryBackend)).toEqual({ states: scenario.states })
    })

  // The longest of the scenarios is part of the week's run.
  const ofLong = names.filter(name => isLonger || states[name] < 1000)
  const ofSqlite = isLong ? ofLong : (['calls of one team reach its limit'] as const)
  test.each(ofSqlite)('in SQLite, in the scenario "%s"', { timeout: TIME_LIMIT }, async name => {
    const database = openDatabase()
    const backend = createSqliteBackend({ database })
    const tables = () => {
      for (const table of TABLES) database.exec(`DELETE FROM ${table}`)
      return backend
    }
    const found = await exploreScenario(scenarios[name], tables)
    database.close()
    // When leases expire, SQLite also makes those releases due that still wait for the push of a registration, whereas
    // the memory store makes such a release due only after this push. So SQLite may visit a few more states.
    expect(found).toEqual({ states: expect.any(Number) })
    expect(found.states).toBeGreaterThanOrEqual(states[name])
  })
})

const TABLES = ['names', 'changes', 'monitor'].map(name => `domain_registration_${name}`)

const REGISTER_AND_RELEASE = 'a name is registered and released during a sweep'

/** For each kind of violation that a defect of a backend can cause, one such defect. */
const defects: readonly [what: string, scenario: ScenarioName, change: Change, violation: string][] = [
  [
    'lets names overlap',
    'two teams register names that overlap',
    ({ register }) => ({
      register: step =>
        register({
          ...step,
          decide: found => step.decide({ registrations: [], below: found.below.map(() => NOTHING_BELOW) }),
        }),
    }),
    '*.example.com overlaps with another registration',
  ],
  [
    'does not count the registrations of a team',
    'calls of one team reach its limit',
    ({ register }) => ({
      register: step => register({ ...step, decide: found => step.decide({ ...found, teamCount: 0 }) }),
    }),
    'team 3 has more names than its limit',
  ],
  [
    'forgets a change whose push fails',
    REGISTER_AND_RELEASE,
    ({ outbox }) => ({
      outbox: { ...outbox, postpone: postponements => outbox.finish(postponements.map(({ change }) => change)) },
    }),
    'a.example.com is registered, but neither watched nor pending',
  ],
  [
    'removes pending changes by name instead of by ID',
    'a name moves to another team during a sweep',
    ({ outbox }) => ({
      outbox: {
        ...outbox,
        finish: changes =>
          outbox.finish(pendingIn(outbox).filter(({ domain }) => changes.some(change => change.domain === domain))),
      },
    }),
    'a.example.com is watched, but neither registered nor pending',
  ],
  [
    'never ends the lease of a sweep',
    REGISTER_AND_RELEASE,
    neverEndLeases,
    'a.example.com is still pending at the end',
  ],
  [
    'lacks a method',
    REGISTER_AND_RELEASE,
    () => ({ release: undefined as never }),
    'caller: release a.example.com failed although no failure was injected: TypeError: ',
  ],
]

type Change = (backend: StoreBackend) => Partial<StoreBackend>

/** The pending changes of a memory store, which returns them directly and not as a promise. */
const pendingIn = (outbox: Outbox) => outbox.list(undefined, 1000) as readonly PendingChange[]

function neverEndLeases({ outbox }: StoreBackend): Partial<StoreBackend> {
  const leased = new Set<string>()
  return {
    outbox: {
      ...outbox,
      async take(request) {
        const taken = (await outbox.take(request)).filter(({ domainId, kind }) => !leased.has(domainId + kind))
        for (const { domainId, kind } of request.lease > 0 ? taken : []) leased.add(domainId + kind)
        return taken
      },
      postpone(postponements) {
        for (const { change } of postponements) leased.delete(change.domainId + change.kind)
        return outbox.postpone(postponements)
      },
    },
  }
}

const change = (changes: Change) => () => {
  const backend = createMemoryBackend()
  return { ...backend, ...changes(backend) }
}

test.each(defects)('finds the violation of a backend that %s, in at most eight steps', async (...defect) => {
  const [, scenario, changes, what] = defect
  const { violation } = await exploreScenario(scenarios[scenario], change(changes))
  expect(violation?.what).toContain(what)
  expect(violation?.story.length).toBeLessThanOrEqual(8)
})

test('reports the shortest sequence of steps that loses a change, in order', async () => {
  const [, , forgetFailed = () => ({})] = defects.find(([what]) => what.startsWith('forgets a change')) ?? []
  const { violation } = await exploreScenario(scenarios[REGISTER_AND_RELEASE], change(forgetFailed))
  expect(violation?.story).toEqual([
    'caller: register a.example.com is done',
    'caller: push registered a.example.com fails',
    'caller: postpone registered a.example.com is done',
  ])
})

test('rejects a backend that behaves differently when the same steps are repeated', async () => {
  let calls = 0
  const unsteady = change(() => (++calls % 2 === 1 ? { release: () => [] } : {}))
  await expect(exploreScenario(scenarios[REGISTER_AND_RELEASE], unsteady)).rejects.toThrow('not deterministic')
})
