import { describe, expect, test } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import type { StoreBackend } from '../../src/store/managed-store.ts'
import { exploreScenario, exploreStore } from '../../src/testing/exploration/explore-store.ts'
import { type ScenarioName, scenarios } from '../../src/testing/exploration/scenarios.ts'
import { isLong, sample } from '../counts.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { brokenOutboxes } from './broken-outboxes.ts'
import { longScenarios } from './long-scenarios.ts'

/** The number of states of each scenario. Update it when a change makes the exploration try more or fewer orders. */
const states: Readonly<Record<ScenarioName, number>> = {
  'two teams register names that overlap': 196,
  'a wildcard is released while another team registers below it': 213,
  'a name is registered twice and released': 584,
  'a name is registered and released during a sweep': 656,
  'a name moves to another team during a sweep': 677,
  'a push succeeds in part': 336,
  'a failed push is made due during a release': 568,
  'calls of one team reach its limit': 94,
  'the application is asked about names that another team releases and registers': 61,
  'a name is imported, registered and released': 673,
  'a name is transferred twice and released': 596,
  'a transfer and a call reach a limit': 174,
}
const names = Object.keys(states) as ScenarioName[]
/** The small scenarios. Each of the others takes a second or more. */
const small = names.filter(name => states[name] < 400)
const all = names.reduce((sum, name) => sum + states[name], 0)
/**
 * When leases expire, SQLite also makes those releases due that still wait for the push of a registration, whereas the
 * memory store makes such a release due only after this push. The outcome is the same, but SQLite visits two more
 * states.
 */
const allInSqlite = all + 2

const TIME_LIMIT = 600_000

describe('in every order of steps, no overlapping names are saved and no change is lost', () => {
  test.each(isLong ? names : small)('in the scenario "%s"', { timeout: TIME_LIMIT }, async name => {
    expect(await exploreScenario(scenarios[name], createMemoryBackend)).toEqual({ states: states[name] })
  })

  const named = longScenarios.map(scenario => [scenario.name, scenario] as const)
  if (isLong)
    test.each(named)('in the scenario "%s"', { timeout: TIME_LIMIT }, async (_, scenario) => {
      expect(await exploreScenario(scenario, createMemoryBackend)).toEqual({ states: scenario.states })
    })

  test(`in SQLite${isLong ? '' : ', in the scenario "calls of one team reach its limit"'}`, {
    timeout: TIME_LIMIT,
  }, async () => {
    const database = openDatabase()
    const tables = () => {
      const backend = createSqliteBackend({ database })
      for (const table of TABLES) database.exec(`DELETE FROM ${table}`)
      return backend
    }
    const few = ['calls of one team reach its limit'] as const
    const { violations, states: visited } = await exploreStore(tables, isLong ? {} : { scenarios: few })
    database.close()
    expect(violations).toBe(0)
    expect(visited).toBe(isLong ? allInSqlite : states[few[0]])
  })
})

const TABLES = ['names', 'changes', 'monitor'].map(name => `domain_registration_${name}`)

describe('exploreStore', () => {
  const chosen = sample(brokenOutboxes, isLong ? brokenOutboxes.length : 4)
  test.each(chosen.map(outbox => [outbox.breaks, outbox] as const))(
    'needs at most nine lines to report a store that %s',
    async (_, { scenario, createBackend }) => {
      const { violations, stories } = await exploreStore(createBackend, { scenarios: [scenario] })
      expect(violations).toBe(1)
      expect(stories?.[0]).toContain(scenario)
      expect(stories?.[0]?.split('\n').length).toBeLessThanOrEqual(9)
    },
  )

  test.each<[what: string, changes: Partial<StoreBackend>, story: string]>([
    [
      'always rejects',
      { register: () => Promise.reject(new Error('disk full')) },
      'failed although no failure was injected: Error: disk full',
    ],
    ['lacks a method', { release: undefined as never }, 'failed although no failure was injected: TypeError: '],
    ['returns null', { register: () => null as never }, 'failed although no failure was injected: TypeError: '],
  ])('reports a store that %s, even though the saved data stays correct', async (_, changes, story) => {
    const scenarios = ['a name is registered and released during a sweep'] as const
    const { violations, stories } = await exploreStore(() => ({ ...createMemoryBackend(), ...changes }), { scenarios })
    expect(violations).toBe(1)
    expect(stories?.[0]).toContain(story)
  })

  test.each([undefined, null, {}, 'createMyBackend'])(
    'rejects %j where a function that creates a backend is required',
    async wrong => {
      await expect(exploreStore(wrong as never)).rejects.toThrow('exploreStore takes a function that creates a backend')
    },
  )

  test.each([undefined, null, {}, { outbox: null }])(
    'rejects a function that returns %j instead of a backend',
    async backend => {
      await expect(exploreStore(() => backend as never)).rejects.toThrow('createBackend must return a StoreBackend')
    },
  )

  test('rejects a store that behaves differently when the same steps are repeated', async () => {
    let calls = 0
    const unsteady = () => {
      const backend = createMemoryBackend()
      const isOdd = ++calls % 2 === 1
      return { ...backend, ...(isOdd && { release: () => [] }) }
    }
    await expect(exploreStore(unsteady)).rejects.toThrow('The store is not deterministic')
  })

  test('leaves out a scenario for which the backend lacks a method, and closes every backend', async () => {
    const opened: StoreBackend[] = []
    const closed: StoreBackend[] = []
    const createBackend = () => {
      const { transfer: _, ...backend } = createMemoryBackend()
      opened.push(backend)
      return backend
    }
    const explored = await exploreStore(createBackend, {
      closeBackend: backend => closed.push(backend),
      scenarios: ['a transfer and a call reach a limit', 'calls of one team reach its limit'],
    })
    expect(explored).toEqual({ violations: 0, states: states['calls of one team reach its limit'] })
    expect(closed).toEqual(opened)
  })

  test('rejects an unknown scenario', async () => {
    await expect(exploreStore(createMemoryBackend, { scenarios: ['a storm' as ScenarioName] })).rejects.toThrow(
      TypeError,
    )
  })
})

test('the report of a lost change lists the steps of each process, in order', async () => {
  const forgetful = brokenOutboxes.find(({ breaks }) => breaks === 'forgets a change whose push fails')
  const { stories } = await exploreStore(() => forgetful?.createBackend() ?? createMemoryBackend(), {
    scenarios: ['a name is registered and released during a sweep'],
  })
  expect(stories?.[0]).toBe(
    [
      'a name is registered and released during a sweep: a.example.com is registered, but neither watched nor pending',
      'caller: register a.example.com,*.example.com is done',
      'caller: push registered a.example.com fails',
      'caller: postpone registered a.example.com is done',
    ].join('\n'),
  )
})
