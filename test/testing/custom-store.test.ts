import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerDomains } from 'domain-registration'
import { domainStoreSuite } from 'domain-registration/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { createLevelStore } from '../../examples/custom-store.ts'
import { team1, teams } from '../fixtures.ts'

const directory = mkdtempSync(join(tmpdir(), 'custom-store-'))
afterAll(() => rmSync(directory, { recursive: true }))

const findIn = (teams: readonly { id: string }[]) => (id: string) =>
  (teams.find(team => team.id === id) ?? null) as never

describe('the store of examples/custom-store.ts', () => {
  const cases = domainStoreSuite({
    createStore: ({ teams, synchronize }) =>
      createLevelStore({ folder: mkdtempSync(join(directory, 'store-')), findTeam: findIn(teams), synchronize }),
    closeStore: store => store.close(),
    features: ['synchronize', 'release'],
  })
  test.each(cases)('$name', ({ run }) => run())

  test('outlives the process: what was saved and not yet pushed is found again', async () => {
    const folder = join(directory, 'registrations')
    const findTeam = findIn(teams)
    const offline = () => Promise.reject(new Error('offline'))
    const before = await createLevelStore({ folder, findTeam, synchronize: offline })
    await expect(registerDomains(team1, { domains: ['www.example.com'] }, before)).rejects.toMatchObject({
      status: 503,
    })
    await before.close()

    const pushed: string[] = []
    const synchronize = (registrations: readonly { domain: string }[]) =>
      void pushed.push(...registrations.map(({ domain }) => domain))
    const after = await createLevelStore({ folder, findTeam, synchronize })
    const { data } = await registerDomains(team1, { domains: ['www.example.com'] }, after)
    expect(pushed).toEqual(['www.example.com'])
    expect(data.totals).toEqual({ created: 0, existing: 1, invalid: 0 })
    await after.close()
  })
})

test('examples/custom-store.ts is short enough to be copied', () => {
  const source = readFileSync(new URL('../../examples/custom-store.ts', import.meta.url), 'utf8')
  expect(source.split('\n').length).toBeLessThanOrEqual(130)
  expect(source).not.toMatch(/from '\.\.?\//)
})
