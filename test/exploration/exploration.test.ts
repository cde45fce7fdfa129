import { describe, expect, test } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import { exploreScenario, exploreStore } from '../../src/testing/exploration/explore-store.ts'
import { type ScenarioName, scenarios } from '../../src/testing/exploration/scenarios.ts'
import { isLong } from '../counts.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { brokenOutboxes } from './broken-outboxes.ts'
import { longScenarios } from './long-scenarios.ts'

/** How many states each scenario has, to see whether a change makes the space smaller. */
const states: Readonly<Record<ScenarioName, number>> = {
  'two teams register names that overlap': 196,
  'a wildcard is released while another team registers below it': 172,
  'the same call twice and a release': 584,
  'a name is registered and released beside a sweep': 416,
  'a name goes to another team beside a sweep': 377,
  'a push succeeds in part': 227,
  'a failed push is made due beside a release': 466,
  'calls of a team come to its limit': 94,
  'an import meets a call and a release': 430,
}
const names = Object.keys(states) as ScenarioName[]
const all = names.reduce((sum, name) => sum + states[name], 0)

const TIME_LIMIT = 600_000

describe('in every state, nothing overlaps, is lost or forgotten', () => {
  test.each(names)('when %s', { timeout: TIME_LIMIT }, async name => {
    expect(await exploreScenario(scenarios[name], createMemoryBackend)).toEqual({ states: states[name] })
  })

  test.runIf(isLong).each(longScenarios)('when $name', { timeout: TIME_LIMIT }, async scenario => {
    expect(await exploreScenario(scenario, createMemoryBackend)).toEqual({ states: scenario.states })
  })

  test(`SQLite has the same states as memory${isLong ? '' : ', of one scenario'}`, {
    timeout: TIME_LIMIT,
  }, async () => {
    const database = openDatabase()
    const tables = () => {
      const backend = createSqliteBackend({ database })
      for (const table of TABLES) database.exec(`DELETE FROM ${table}`)
      return backend
    }
    const few = ['calls of a team come to its limit'] as const
    const found = await exploreStore(tables, isLong ? {} : { scenarios: few })
    database.close()
    expect(found).toEqual({ violations: 0, states: isLong ? all : states[few[0]] })
  })
})

const TABLES = ['names', 'changes', 'monitor'].map(name => `domain_registration_${name}`)

describe('a store', () => {
  test.each(brokenOutboxes)('that $breaks is found, with a short story', async ({ scenario, createBackend }) => {
    const { violations, stories } = await exploreStore(createBackend, { scenarios: [scenario] })
    expect(violations).toBe(1)
    expect(stories?.[0]).toContain(scenario)
    expect(stories?.[0]?.split('\n').length).toBeLessThanOrEqual(9)
  })

  test('that goes otherwise when a schedule is repeated is rejected', async () => {
    let calls = 0
    const unsteady = () => {
      const backend = createMemoryBackend()
      const isOdd = ++calls % 2 === 1
      return { ...backend, ...(isOdd && { register: () => Promise.reject(new Error('It is odd')) }) }
    }
    await expect(exploreStore(unsteady)).rejects.toThrow('The store is not deterministic')
  })

  test('with an option that does not exist is rejected', async () => {
    await expect(exploreStore(createMemoryBackend, { scenarios: ['a storm' as ScenarioName] })).rejects.toThrow(
      TypeError,
    )
  })
})

test('the story of a violation says who did what', async () => {
  const forgetful = brokenOutboxes.find(({ breaks }) => breaks === 'forgets a change whose push fails')
  const { stories } = await exploreStore(() => forgetful?.createBackend() ?? createMemoryBackend(), {
    scenarios: ['a name is registered and released beside a sweep'],
  })
  expect(stories?.[0]).toBe(
    [
      'a name is registered and released beside a sweep: a.example.com is registered, and neither watched nor pending',
      'caller: register a.example.com,*.example.com is done',
      'caller: push registered a.example.com fails',
      'caller: postpone registered a.example.com is done',
    ].join('\n'),
  )
})
