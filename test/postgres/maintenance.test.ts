import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import { lookUp, save, submitForFates, toDomains, toName } from '../../src/testing/calls.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
let store: PostgresStore
beforeAll(async () => {
  server = await startServer()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool })
})
afterAll(() => server.stop())
beforeEach(async () => {
  await pool.query('DELETE FROM domain_registration.names')
  // A new one, which guesses that the first call finds nothing.
  store = createPostgresStore({ pool, findTeam: id => ({ id, organizationId: '1', state: 'active' }) })
})

const held = async () =>
  (await pool.query('SELECT domain, registrable_domain, domain_id, team_id FROM domain_registration.registrations'))
    .rows

describe('with a newer Public Suffix List', () => {
  /** As if `github.io` had not been a public suffix when these were registered. */
  const saveStale = (teamId: string, domains: readonly string[]) => save(store, teamId, domains.map(toName))

  test('names move under the registrable domain that they have now, and keep the rest', async () => {
    const stale = await saveStale('1', [
      'someone.github.io',
      'www.someone.github.io',
      '*.other.github.io',
      'example.com',
    ])
    expect(await store.release('1', ['www.someone.github.io'])).toEqual([])
    expect(await store.reclassify()).toEqual({ examined: 7, moved: 3, left: [] })
    const registrableDomains = ['someone.github.io', 'someone.github.io', 'other.github.io', 'example.com']
    const expected = stale.map(({ domain, domainId, teamId }, index) => ({
      domain,
      registrable_domain: registrableDomains[index],
      domain_id: domainId,
      team_id: teamId,
    }))
    const sort = (rows: readonly { domain: string }[]) => rows.toSorted((a, b) => (a.domain < b.domain ? -1 : 1))
    expect(sort(await held())).toEqual(sort(expected))
    expect(
      await submitForFates(store, '1', ['www.someone.github.io', 'a.other.github.io', '*.someone.github.io']),
    ).toEqual(['existing', 'wildcard_conflict', 'subdomain_conflict'])
  })

  test('a name moves into the row of its registrable domain, and the guest out of it', async () => {
    const stale = await saveStale('1', ['someone.github.io', 'www.github.io'])
    const [guest] = await save(store, '1', [
      { domain: 'www.someone.github.io', registrableDomain: 'someone.github.io' },
    ])
    expect(await store.reclassify()).toEqual({ examined: 5, moved: 2, left: [] })
    expect(new Map((await held()).map(row => [row.domain, row.domain_id]))).toEqual(
      new Map([...stale, guest].map(registration => [registration?.domain, registration?.domainId])),
    )
    expect(
      await submitForFates(store, '1', ['someone.github.io', 'www.someone.github.io', '*.someone.github.io']),
    ).toEqual(['existing', 'existing', 'subdomain_conflict'])
  })

  test('a second run finds nothing to do, also beyond one batch', async () => {
    const names = Array.from({ length: 1500 }, (_, index) => `www.n${index}.github.io`)
    await saveStale('1', names.slice(0, 3))
    await save(
      store,
      '1',
      names.slice(3).map((_, index) => `n${index}.com`),
    )
    expect(await store.reclassify()).toEqual({ examined: 1500, moved: 3, left: [] })
    expect(await store.reclassify()).toEqual({ examined: 1500, moved: 0, left: [] })
  })

  test('what cannot be moved is left, and told', async () => {
    const [suffix, twice, covered] = await saveStale('1', ['github.io', 'someone.github.io', 'a.other.github.io'])
    expect(await submitForFates(store, '2', ['someone.github.io', '*.other.github.io'])).toEqual(['created', 'created'])
    const before = await held()
    const left = [suffix, covered, twice].map(registration => ({
      domain: registration?.domain,
      domainId: registration?.domainId,
      teamId: '1',
    }))
    expect(await store.reclassify()).toEqual({ examined: 5, moved: 0, left })
    expect(await held()).toEqual(before)
  })
})

describe('in a registrable domain that becomes crowded', () => {
  const crowd = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `n${from + index}.crowd.com`)
  const flags = async () =>
    (
      await pool.query(
        'SELECT crowded, count(*)::integer FROM domain_registration.names GROUP BY crowded ORDER BY crowded',
      )
    ).rows

  test.each([
    [200, 0, [{ crowded: false, count: 200 }]],
    [120, 120, [{ crowded: true, count: 240 }]],
    [1, 1200, [{ crowded: true, count: 1201 }]],
    [1200, 0, [{ crowded: true, count: 1200 }]],
  ])('of %i names of one team and %i of another each is found', async (own, foreign, expected) => {
    await save(store, '1', crowd(own))
    if (foreign > 0) await save(store, '2', crowd(foreign, own))
    expect(await flags()).toEqual(expected)
    const { below } = await lookUp(store, '1', [], ['crowd.com', 'n0.crowd.com'])
    expect(below[0]).toMatchObject({ ownCount: Math.min(own, 1000) })
    expect(below[0]?.ownDomains).toHaveLength(Math.min(own, 3))
    expect(below[1]).toEqual({ ownDomains: [], ownCount: 0, heldByOthers: false })
    expect((await lookUp(store, '3', [], ['crowd.com'])).below).toEqual([
      { ownDomains: [], ownCount: 0, heldByOthers: true },
    ])
  })

  test('by the registrable domain itself, which moves a guest out, all are marked', async () => {
    await save(store, '1', crowd(200))
    await save(store, '1', ['crowd.com'])
    expect(await flags()).toEqual([{ crowded: true, count: 201 }])
  })

  test('what is registered and released later is counted as well', async () => {
    await save(store, '1', crowd(250))
    await save(store, '2', ['late.crowd.com', 'crowd.com'])
    expect((await lookUp(store, '2', [], ['crowd.com'])).below[0]).toMatchObject({ ownDomains: ['late.crowd.com'] })
    expect(toDomains(await store.release('2', ['late.crowd.com', 'crowd.com']))).toHaveLength(2)
    expect(await lookUp(store, '2', ['crowd.com'], ['crowd.com'])).toEqual({
      registrations: [],
      below: [{ ownDomains: [], ownCount: 0, heldByOthers: true }],
    })
    expect((await flags()).find(({ crowded }) => !crowded)).toBeUndefined()
  })
})
