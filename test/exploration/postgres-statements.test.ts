import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importDomains } from '../../src/operations/import-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import { createPostgresStore, migrate, type PostgresPool } from '../../src/postgres/index.ts'
import type { ManagedStore } from '../../src/store/managed-store.ts'
import { isLong } from '../counts.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { type Caller, createCaller, runAllOrders, type Work } from './statements.ts'

type Action = (store: ManagedStore, pool: PostgresPool) => Promise<string>

const keyOf = (teamId: string) => ({ type: 'team', teamId, scopes: ['domains:create'] }) as const
const register =
  (teamId: string, ...domains: string[]): Action =>
  async store => {
    const { data } = await registerDomains(keyOf(teamId), { domains }, store)
    return data.results.map(result => (result.status === 'invalid' ? result.code : result.status)).join()
  }
const release =
  (teamId: string, ...domains: string[]): Action =>
  async store =>
    `released ${(await store.release(teamId, domains)).length}`
const move =
  (from: string, to: string): Action =>
  async store =>
    `transferred ${(await transfer(store, { from, to, domains: ['a.example.com'] })).length}`
const bring =
  (teamId: string, domain: string): Action =>
  async store => {
    const domainId = '01a1fdc4-24dc-7291-9bdf-caca67ce70da'
    const row = { domainId, domain, teamId, createdAt: new Date(0), synchronized: true }
    const { imported, rejected } = await importDomains(store, [row])
    return imported === 1 ? 'imported' : `${rejected[0]?.code}`
  }
/** An action in a transaction of the application, ended by a given command. */
const inTransaction =
  (ending: 'COMMIT' | 'ROLLBACK', action: Action): Action =>
  async (_, pool) => {
    const client = (await (pool as Pool).connect()) as PoolClient
    const query = (text: string, values: unknown[] = []) => client.query({ text, values })
    await query('BEGIN')
    const outcome = await action(createPostgresStore({ database: { query }, findTeam }), pool)
    await query(ending)
    client.release()
    return `${outcome} ${ending}`
  }

interface Scenario {
  readonly name: string
  readonly before?: Action
  readonly actions: readonly [Action, Action]
  /**
   * The allowed outcomes: what the two actions return, and which names are registered afterwards. Every order of the
   * statements must lead to one of these outcomes.
   */
  readonly endings: readonly string[]
  /** The number of orders in which the statements that use a table can run. */
  readonly orders: number
}

/** Team 9 may register one name. */
const findTeam = (id: string) => ({
  id,
  organizationId: '1',
  state: 'active' as const,
  maxDomains: id === '9' ? 1 : null,
})

const scenarios: readonly Scenario[] = [
  {
    name: 'two teams register names that overlap',
    actions: [register('1', '*.example.com'), register('2', 'a.example.com')],
    endings: ['created | domain_already_licensed: *.example.com', 'domain_already_licensed | created: a.example.com'],
    orders: 11,
  },
  {
    name: 'two calls register the same two names in opposite order',
    actions: [register('1', 'a.com', 'b.com'), register('1', 'b.com', 'a.com')],
    endings: ['created,created | existing,existing: a.com,b.com', 'existing,existing | created,created: a.com,b.com'],
    orders: 8,
  },
  {
    name: 'a wildcard is released while another team registers a name below it',
    before: register('1', '*.example.com'),
    actions: [release('1', '*.example.com'), register('2', 'a.example.com')],
    endings: ['released 1 | created: a.example.com', 'released 1 | domain_already_licensed: '],
    orders: 26,
  },
  {
    name: 'two calls together would exceed the limit of their team',
    actions: [register('9', 'a.com'), register('9', 'b.com')],
    endings: ['created | failed: a.com', 'failed | created: b.com'],
    orders: 10,
  },
  {
    name: 'a name is transferred while its team releases it',
    before: register('1', 'a.example.com'),
    actions: [move('1', '2'), release('1', 'a.example.com')],
    endings: ['transferred 1 | released 0: a.example.com', 'transferred 0 | released 1: '],
    orders: 420,
  },
  {
    name: 'a name is imported while another team registers a wildcard above it',
    actions: [bring('1', 'a.example.com'), register('2', '*.example.com')],
    endings: ['imported | domain_already_licensed: a.example.com', 'domain_already_licensed | created: *.example.com'],
    orders: 11,
  },
  {
    name: 'an application registers a wildcard and rolls back during a call for a name below it',
    actions: [inTransaction('ROLLBACK', register('1', '*.example.com')), register('2', 'a.example.com')],
    endings: ['created ROLLBACK | created: a.example.com', 'domain_already_licensed ROLLBACK | created: a.example.com'],
    orders: 9,
  },
  {
    name: 'an application registers a wildcard and commits during a call for a name below it',
    actions: [inTransaction('COMMIT', register('1', '*.example.com')), register('2', 'a.example.com')],
    endings: [
      'created COMMIT | domain_already_licensed: *.example.com',
      'domain_already_licensed COMMIT | created: a.example.com',
    ],
    orders: 9,
  },
]

let server: TestServer
let observer: Pool
let callers: readonly Caller[]
let stores: readonly ManagedStore[]
beforeAll(async () => {
  server = await openDatabase()
  observer = server.createPool()
  await migrate({ database: observer })
  callers = [1, 2].map(() => createCaller(server.createPool(), observer))
  stores = callers.map(({ pool }) => createPostgresStore({ database: pool, findTeam }))
})
afterAll(() => server.stop())

const readNames = async () =>
  (await observer.query('SELECT domain FROM domain_registration.names ORDER BY domain')).rows.map(
    ({ domain }): string => domain,
  )

describe('every order of the statements of two PostgreSQL sessions has a correct outcome', () => {
  const explored = isLong ? scenarios : scenarios.filter(({ orders }) => orders < 100)
  test.each(explored.map(scenario => [scenario.name, scenario] as const))('when %s', async (_, scenario) => {
    const direct = createPostgresStore({ database: observer, findTeam })
    const seen = new Set<string>()
    async function prepare(): Promise<readonly Work[]> {
      await observer.query('DELETE FROM domain_registration.names; DELETE FROM domain_registration.locks')
      await scenario.before?.(direct, observer as PostgresPool)
      return callers.map(
        ({ pool }, index) =>
          async () =>
            `${await scenario.actions[index]?.(stores[index] as ManagedStore, pool)}`,
      )
    }
    const orders = await runAllOrders(callers, prepare, async (endings, story) => {
      const names = await readNames()
      const outcomes = endings.map(each => each?.replace(/^failed.*/s, 'failed')).join(' | ')
      const ending = `${outcomes}: ${names}`
      seen.add(ending)
      expect(scenario.endings, story.join('\n')).toContain(ending)
    })
    expect(orders).toBe(scenario.orders)
    expect([...seen].sort()).toEqual([...scenario.endings].sort())
  })
})
