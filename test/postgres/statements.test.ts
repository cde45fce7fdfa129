import type { Pool, PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { registerDomains } from '../../src/index.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { toTables } from '../../src/postgres/schema.ts'
import { createStatements, type Statements } from '../../src/postgres/statements.ts'
import { lookUp, save } from '../../src/testing/calls.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
let client: PoolClient
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool })
  client = await pool.connect()
})
beforeEach(() => client.query('BEGIN'))
afterEach(() => client.query('ROLLBACK'))
afterAll(async () => {
  client.release()
  await server.stop()
})

const idOf = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`
const [inlined, below, released, other] = [1, 2, 3, 4].map(idOf) as [string, string, string, string]
const list = (...elements: string[]) => `{${elements.join(',')}}`
const [head, own, wait] = [list('a.com'), list('.api'), ['90000 ms', '90000 ms']]

/** What each does to the row of an ID. */
const changes: Partial<Record<keyof Statements, [rightId: string, toValues: (id: string) => unknown[]]>> = {
  deleteNames: [below, id => [head, own, list(id)]],
  vacateHeads: [inlined, id => [head, list(id)]],
  moveOut: [inlined, id => [head, list(id)]],
  copyName: [below, id => ['a.com', '.api', id, 'b.com', '.api']],
  copyIntoHead: [below, id => ['a.com', '.api', id, 'api.a.com', '']],
  leaseNames: [below, id => [head, own, list(id), ...wait]],
  leaseReleases: [released, id => [head, list(id), wait[0]]],
  postponeNames: [below, id => [head, own, list(id), '{5}', '{0}', '{1}', wait[0]]],
  postponeReleases: [released, id => [head, list(id), '{5}', '{0}', '{1}']],
  finishNames: [below, id => [head, own, list(id)]],
  hastenReleases: [released, id => [head, list(id)]],
  addReleases: [below, id => [head, own, list(id), wait[0]]],
  deleteReleases: [released, id => [head, list(id)]],
}

async function readAll() {
  const rows = async (table: string) =>
    (await client.query(`SELECT *, xmin FROM domain_registration.${table} ORDER BY registrable_domain, path`)).rows
  return [await rows('names'), await rows('releases')]
}

test.each(Object.entries(changes))(
  '%s changes the row with the ID that it names, and no other',
  async (name, change) => {
    const [rightId, toValues] = change
    await client.query(
      `INSERT INTO domain_registration.names
       (registrable_domain, path, inlined_path, domain_id, team_id, created_at, due)
     VALUES ('a.com', '', '.www', '${inlined}', '1', now(), to_timestamp(1)),
       ('a.com', '.api', NULL, '${below}', '1', now(), to_timestamp(1));
     INSERT INTO domain_registration.releases (registrable_domain, path, domain_id, team_id, due)
     VALUES ('a.com', '.old', '${released}', '1', to_timestamp(1))`,
    )
    const { text } = createStatements(toTables({}))[name as keyof Statements]
    const before = await readAll()
    await client.query(text, toValues(other))
    expect(await readAll()).toEqual(before)
    await client.query(text, toValues(rightId))
    expect(await readAll()).not.toEqual(before)
  },
)

test('a release claims its registrable domains in ascending order, whatever the order of its names', async () => {
  const store = createPostgresStore({ pool, findTeam: () => null })
  await save(store, '1', ['a.com', 'b.com'])
  const lock = (domain: string) =>
    client.query(`SELECT FROM domain_registration.names WHERE registrable_domain = '${domain}' FOR UPDATE NOWAIT`)
  await lock('a.com')
  const releasing = store.release('1', ['b.com', 'a.com'])
  const countWaiting = async () => {
    const { rows } = await pool.query(
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    )
    return rows.length
  }
  await expect.poll(countWaiting, { timeout: 10_000 }).toBe(1)
  // It holds nothing that comes after what it waits for.
  await lock('b.com')
  await client.query('COMMIT')
  expect(await releasing).toHaveLength(2)
})

test.each([
  ['below a head row that holds none', ['a.net', 'www.a.net'], ['a.net'], ['a.net', 'www.a.net'], ['www.a.net']],
  ['inlined in a head row and below it', ['w.b.net', 'v.b.net'], [], ['w.b.net', 'v.b.net'], ['v.b.net', 'w.b.net']],
  ['of several paths', ['c.net', 'x.c.net', 'y.x.c.net'], [], ['*.c.net', 'y.x.c.net'], ['y.x.c.net']],
  ['below no other', ['d.net', 'www.d.net', 'e.net'], [], ['e.net', 'www.e.net'], ['e.net']],
  ['where other claims are new', ['f.net', 'www.f.net'], [], ['www.f.net', 'g.net', 'www.g.net'], ['www.f.net']],
])('the names that a call asks for are found: %s', async (_, saved, released, asked, expected) => {
  const store = createPostgresStore({ pool, findTeam: () => null })
  await save(store, '1', saved)
  await store.release('1', released)
  const { registrations } = await lookUp(store, '2', asked)
  expect(registrations.map(({ domain }) => domain).sort()).toEqual(expected)
})

test('what a call makes, and then decides again, is saved once', async () => {
  const team = { id: '2', organizationId: '1', state: 'active' } as const
  const store = createPostgresStore({ pool, findTeam: () => team })
  await save(store, '1', ['h.net'])
  const created = ['i.net', 'v.j.net', 'www.i.net', 'www.j.net']
  const keyContext = { type: 'team', teamId: '2', scopes: ['domains:create'] } as const
  const { data } = await registerDomains(keyContext, { domains: ['h.net', ...created] }, store)
  expect(data.totals).toEqual({ created: 4, existing: 0, invalid: 1 })
  const { registrations } = await lookUp(store, '2', created)
  const found = registrations.map(({ domain, domainId }) => [domain, domainId]).sort()
  expect(found).toEqual(data.results.slice(1).map(result => [result.input, Reflect.get(result, 'domainId')]))
})
