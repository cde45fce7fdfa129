import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerDomains, type Team } from 'domain-registration'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { createLevelBackend, createLevelStore } from '../../examples/custom-store.ts'
import { counts, isLong, sample } from '../counts.ts'
import { exploreScenario } from '../exploration/explore-scenario.ts'
import { scenarios } from '../exploration/scenarios.ts'
import { team1, teams } from '../fixtures.ts'

const directory = mkdtempSync(join(tmpdir(), 'custom-store-'))
afterAll(() => rmSync(directory, { recursive: true }))

const findIn = (teams: readonly Team[]) => (id: string) => teams.find(team => team.id === id) ?? null

describe('the store of examples/custom-store.ts', () => {
  const cases = domainStoreSuite({
    createStore: ({ teams, ...options }) =>
      createLevelStore({ folder: mkdtempSync(join(directory, 'store-')), findTeam: findIn(teams), ...options }),
    closeStore: store => store.close(),
    features: managedStoreFeatures,
    timeLimit: 15_000,
  })
  for (const { name, run } of sample(cases, counts.casesOfDrivers)) test(name, run)

  if (isLong)
    test('passes the exploration of one scenario', async () => {
      const explored = await exploreScenario(
        scenarios['calls of one team reach its limit'],
        () => createLevelBackend(mkdtempSync(join(directory, 'backend-'))),
        backend => backend.close(),
      )
      expect(explored).toEqual({ states: 80 })
    })

  test('keeps unpushed changes across a restart, so a sweep pushes them', async () => {
    const options = { folder: join(directory, 'registrations'), findTeam: findIn(teams) }
    const offline = () => Promise.reject(new Error('offline'))
    const before = await createLevelStore({ ...options, synchronize: offline })
    await expect(registerDomains(team1, { domains: ['www.example.com'] }, before)).rejects.toMatchObject({
      status: 503,
    })
    await before.close()

    const pushed: string[] = []
    const after = await createLevelStore({
      ...options,
      synchronize: changes => void pushed.push(...changes.map(({ domain }) => domain)),
    })
    expect(await after.retryPending()).toBe(1)
    expect(await after.synchronizePending()).toEqual({ synchronized: 1, failed: 0 })
    expect(pushed).toEqual(['www.example.com'])
    await after.close()
  })
})

test('examples/custom-store.ts imports no file, so it can be copied', () => {
  const source = readFileSync(new URL('../../examples/custom-store.ts', import.meta.url), 'utf8')
  expect(source).not.toMatch(/from '\.\.?\//)
})
