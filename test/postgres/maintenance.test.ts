import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import { lookUp, save, submitForCodes, toDomains, toName } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
let store: PostgresStore
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool })
})
afterAll(() => server.stop())
beforeEach(async () => {
  await pool.query('DELETE FROM domain_registration.names')
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
      await submitForCodes(store, '1', ['www.someone.github.io', 'a.other.github.io', '*.someone.github.io']),
    ).toEqual(['existing', 'wildcard_conflict', 'subdomain_conflict'])
  })

  test('a name moves into the row of its registrable domain, and what was inlined out of it', async () => {
    const stale = await saveStale('1', ['someone.github.io', 'www.github.io'])
    const [inlined] = await save(store, '1', [
      { domain: 'www.someone.github.io', registrableDomain: 'someone.github.io' },
    ])
    expect(await store.reclassify()).toEqual({ examined: 5, moved: 2, left: [] })
    expect(new Map((await held()).map(row => [row.domain, row.domain_id]))).toEqual(
      new Map([...stale, inlined].map(registration => [registration?.domain, registration?.domainId])),
    )
    expect(
      await submitForCodes(store, '1', ['someone.github.io', 'www.someone.github.io', '*.someone.github.io']),
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
    expect(await submitForCodes(store, '2', ['someone.github.io', '*.other.github.io'])).toEqual(['created', 'created'])
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

describe('in a registrable domain with very many names', () => {
  const crowd = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `n${from + index}.crowd.com`)

  test.each([
    [200, 0],
    [120, 120],
    [1, 1200],
    [1200, 0],
  ])('of %i names of one team and %i of another each is found', async (own, foreign) => {
    await save(store, '1', crowd(own))
    if (foreign > 0) await save(store, '2', crowd(foreign, own))
    const { below } = await lookUp(store, '1', [], ['crowd.com', 'n0.crowd.com'])
    expect(below[0]).toMatchObject({ ownCount: Math.min(own, 1000) })
    expect(new Set(below[0]?.ownDomains).size).toBe(Math.min(own, 3))
    expect(below[1]).toEqual({ ownDomains: [], ownCount: 0, heldByOthers: false })
    expect((await lookUp(store, '3', [], ['crowd.com'])).below).toEqual([
      { ownDomains: [], ownCount: 0, heldByOthers: true },
    ])
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
  })
})

const countRows = async () => (await pool.query('SELECT FROM domain_registration.names')).rows.length

test('a name whose registrable domain is new takes one row, and what nobody holds takes none', async () => {
  await save(store, '1', ['a.com', 'www.b.com', '*.c.com'])
  expect(await countRows()).toBe(3)
  await lookUp(store, '1', ['d.com', 'www.e.com'], ['f.com'])
  await store.release('1', ['d.com', 'www.e.com'])
  expect(await countRows()).toBe(3)
  await save(store, '1', ['b.com'])
  expect((await held()).map(({ domain }) => domain).sort()).toEqual(['*.c.com', 'a.com', 'b.com', 'www.b.com'])
  expect(await countRows()).toBe(4)
})

test('a claim locks rows that are there and writes nothing', async () => {
  await save(store, '1', ['a.com', 'www.b.com'])
  const version = async () => (await pool.query('SELECT ctid::text FROM domain_registration.names ORDER BY 1')).rows
  const before = await version()
  await save(store, '1', [])
  await lookUp(store, '2', ['a.com', 'b.com', 'www.b.com'], ['b.com'])
  await store.release('2', ['a.com', 'www.b.com'])
  expect(await version()).toEqual(before)
})
