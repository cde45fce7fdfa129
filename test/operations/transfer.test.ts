import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Change,
  type ManagedStore,
  type Registration,
  registerDomains,
  releaseAll,
  type Team,
  transfer,
} from '../../src/index.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import type { ManagedStoreOptions } from '../../src/store/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { letOthersRun } from '../../src/time/let-others-run.ts'
import { createStore, rejection, team1, teams } from '../fixtures.ts'
import { PATIENCE } from '../patience.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { createFolder } from '../sqlite/create-folder.ts'

const limited: Team = { id: '5', organizationId: '20', state: 'active', maxDomains: 5 }
const findTeam = (id: string) => [...teams, limited].find(team => team.id === id) ?? null

const { open } = createFolder()
let server: TestServer
beforeAll(async () => {
  server = await openDatabase()
})
afterAll(() => server.stop())

let files = 0

/** Returns a function that opens stores on the same tables, as several processes do. The tables are empty at first. */
const openers: readonly [name: string, prepare: () => Promise<(options?: Options) => ManagedStore>][] = [
  [
    'SQLite',
    async () => {
      const file = `transfer-${++files}.db`
      return options => createSqliteStore({ database: open(file), findTeam, timeLimit: PATIENCE, ...options })
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const schema = `transfer ${++files}`
      await migrate({ database: server.createPool(), schema })
      const common = { schema, findTeam, timeLimit: PATIENCE }
      return options => createPostgresStore({ database: server.createPool({ max: 4 }), ...common, ...options })
    },
  ],
]
type Options = Omit<ManagedStoreOptions, 'findTeam'>

/** A monitor that records which names it stopped watching, even for a moment. */
function createWatch() {
  const watching = new Map<string, Set<string>>()
  const released = new Set<string>()
  const unwatched = new Set<string>()
  return {
    unwatched,
    idsOf: (domain: string) => [...(watching.get(domain) ?? [])],
    push(changes: readonly Change[]) {
      for (const { kind, domain, domainId } of changes) {
        const ids = watching.get(domain) ?? new Set()
        watching.set(domain, ids)
        if (kind === 'released') released.add(domainId)
        if (kind === 'registered' && !released.has(domainId)) ids.add(domainId)
        if (kind === 'released' && ids.delete(domainId) && ids.size === 0) unwatched.add(domain)
      }
    },
  }
}

/**
 * Repeats sweeps until nothing is pending: a change that another sweep has locked when it is delivered is due again
 * only once its lease expires.
 */
async function sweepAll(...stores: readonly ManagedStore[]): Promise<void> {
  for (; (await stores[0]?.countPending()) !== 0; await sleep(200))
    await Promise.all(stores.map(store => store.synchronizePending()))
}

describe.each(openers)('in %s', (_, prepare) => {
  test('each name stays watched while all names are transferred and several processes sweep', async () => {
    const openStore = await prepare()
    const watch = createWatch()
    const stores = [0, 1, 2].map(() =>
      openStore({ synchronize: watch.push, batchSize: 50, synchronizeTimeLimit: 3_000 }),
    ) as [ManagedStore]
    const [store] = stores
    const saved: Registration[] = []
    for (let part = 0; part < 5; part += 1) {
      const registrations = await save(store, '1', manyDomains(215, `${part}-`))
      await store.synchronize?.(registrations)
      saved.push(...registrations)
    }
    const before = new Map(saved.map(({ domainId, domain }) => [domainId, domain]))
    let isOver = false
    const sweeping = stores.map(async each => {
      for (; !isOver; await letOthersRun()) await each.synchronizePending()
    })
    const transferred = await transfer(store, { from: '1', to: '2' }).finally(() => {
      isOver = true
    })
    await Promise.all(sweeping)
    await sweepAll(...stores)
    expect(transferred).toHaveLength(1075)
    expect(new Map(transferred.map(({ formerId, domain }) => [formerId, domain]))).toEqual(before)
    expect([await store.count({ teamId: '1' }), await store.count({ teamId: '2' })]).toEqual([0, 1075])
    expect([...watch.unwatched]).toEqual([])
    for (const { domain, domainId } of transferred) expect(watch.idsOf(domain)).toEqual([domainId])
  })

  test('two simultaneous transfers in opposite directions complete, and no name is lost or duplicated', async () => {
    const openStore = await prepare()
    const [one, other] = [openStore(), openStore()]
    await save(one, '1', manyDomains(1050, 'a.'))
    await save(one, '2', manyDomains(1050, 'b.'))
    const both = [transfer(one, { from: '1', to: '2' }), transfer(other, { from: '2', to: '1' })]
    const moved = (await Promise.all(both)).flat()
    expect(moved.length).toBeGreaterThanOrEqual(2100)
    expect(await one.count()).toBe(2100)
  })

  test('a transfer in a process without a monitor records changes only if another process has one', async () => {
    const openStore = await prepare()
    const plain = openStore()
    await save(plain, '1', ['a.com'])
    await transfer(plain, { from: '1', to: '2', domains: ['a.com'] })
    expect(await plain.countPending()).toBe(0)
    const watch = createWatch()
    const serving = openStore({ synchronize: watch.push })
    await serving.synchronize?.(await save(serving, '1', ['b.com']))
    await transfer(plain, { from: '1', to: '2', domains: ['b.com'] })
    expect((await plain.listPending()).map(({ kind, teamId }) => `${kind} ${teamId}`).sort()).toEqual([
      'registered 2',
      'released 1',
    ])
    await sweepAll(serving)
    expect([...watch.unwatched]).toEqual([])
    expect(watch.idsOf('b.com')).toEqual((await plain.list({ domain: 'b.com' })).map(({ domainId }) => domainId))
  })

  test('transferring or releasing all names leaves those that were registered again meanwhile', async () => {
    const store = (await prepare())()
    const again = async (...page: Parameters<typeof store.list>) => {
      const listed = await store.list(...page)
      if (page[0]?.order === 'newest') return listed
      await store.release('1', ['a.com'])
      await save(store, '1', ['a.com'])
      return listed
    }
    await save(store, '1', ['a.com', 'b.com'])
    const interrupted = { ...store, list: again }
    expect((await transfer(interrupted, { from: '1', to: '2' })).map(({ domain }) => domain)).toEqual(['b.com'])
    await save(store, '1', ['c.com'])
    expect(await releaseAll(interrupted, '1')).toBe(1)
    expect((await store.list({ teamId: '1' })).map(({ domain }) => domain)).toEqual(['a.com'])
  })

  test('releasing all names of a team does not release those of other teams', async () => {
    const store = (await prepare())()
    await save(store, '1', manyDomains(1001, 'a.'))
    await save(store, '2', ['b.com'])
    expect(await releaseAll(store, '1')).toBe(1001)
    expect((await store.list()).map(({ domain }) => domain)).toEqual(['b.com'])
    expect(await releaseAll(store, '1')).toBe(0)
  })
})

describe("in the application's transaction, a transfer", () => {
  test.each([
    ['is saved', 'COMMIT', '2', 2],
    ['is undone', 'ROLLBACK', '1', 1],
  ])('%s together with the application’s own statements by %s', async (_, end, teamId, rows) => {
    const pool = server.createPool()
    const schema = `own ${++files}`
    await migrate({ database: pool, schema })
    await pool.query(`CREATE TABLE teams_${files} (id text)`)
    await pool.query(`INSERT INTO teams_${files} VALUES ('2')`)
    const serving = createPostgresStore({ database: pool, schema, findTeam, synchronize: () => {} })
    await serving.synchronize?.(await save(serving, '1', ['a.com', '*.b.com']))
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const query = (text: string, values: unknown[]) => client.query(text, values)
      const store = createPostgresStore({ database: { query }, schema, findTeam })
      expect(await transfer(store, { from: '1', to: '2' })).toHaveLength(2)
      await client.query(`INSERT INTO teams_${files} VALUES ('1')`)
      await client.query(end)
    } finally {
      client.release()
    }
    expect(await serving.count({ teamId })).toBe(2)
    expect(await serving.countPending()).toBe(end === 'COMMIT' ? 4 : 0)
    expect((await pool.query(`SELECT FROM teams_${files}`)).rowCount).toBe(rows)
  })
})

test("the application's rows that refer to a transferred name stay, and get its new ID", async () => {
  const pool = server.createPool()
  const schema = `notes_${++files}`
  await migrate({ database: pool, schema })
  await pool.query(`CREATE TABLE ${schema}.notes (note text,
    domain_id uuid REFERENCES ${schema}.names (domain_id) ON UPDATE CASCADE ON DELETE CASCADE)`)
  const store = createPostgresStore({ database: pool, schema, findTeam })
  const [held] = await save(store, '1', ['a.com'])
  await pool.query(`INSERT INTO ${schema}.notes VALUES ('mine', $1)`, [held?.domainId])
  const [transferred] = await transfer(store, { from: '1', to: '2' })
  const { rows } = await pool.query(`SELECT note, domain_id FROM ${schema}.notes`)
  expect(rows).toEqual([{ note: 'mine', domain_id: transferred?.domainId }])
})

describe('a transfer', () => {
  const createLimited = () => createStore({ teams: [...teams, limited] })

  test('keeps the registrable domain, and returns both the new ID and the former one', async () => {
    const store = createStore()
    const [held] = await save(store, '1', [{ domain: 'a.b.example.com', registrableDomain: 'b.example.com' }])
    const [transferred] = await transfer(store, { from: '1', to: '2', domains: ['A.B.example.com'] })
    expect(transferred).toEqual({
      domain: 'a.b.example.com',
      formerId: held?.domainId,
      domainId: expect.not.stringContaining(held?.domainId ?? ''),
    })
    const [listed] = await store.list()
    expect(listed).toMatchObject({ registrableDomain: 'b.example.com', domainId: transferred?.domainId, teamId: '2' })
  })

  test.each([
    ['a team that does not exist', '77', 404, 'team_not_found'],
    ['a suspended team', '9', 403, 'team_suspended'],
  ])('to %s is rejected, and nothing changes', async (_, to, status, code) => {
    const store = createStore()
    await save(store, '1', ['a.com'])
    expect(await rejection(transfer(store, { from: '1', to }))).toMatchObject({ status, code })
    expect(await store.count({ teamId: '1' })).toBe(1)
  })

  test('from a team that no longer exists succeeds', async () => {
    const store = createStore()
    await save(store, '77', ['a.com'])
    expect(await transfer(store, { from: '77', to: '1' })).toHaveLength(1)
  })

  test.each([
    ['of all names', {}],
    ['of given names', { domains: manyDomains(4) }],
  ])('%s is rejected as a whole if it would exceed the limit of the new team', async (_, part) => {
    const store = createLimited()
    await save(store, '1', manyDomains(4))
    await save(store, '5', ['a.com', 'b.com'])
    expect(await rejection(transfer(store, { from: '1', to: '5', ...part }))).toMatchObject({
      status: 403,
      code: 'domain_limit_reached',
      message: 'The team may have 5 domains. It has 2, and this call would add 4.',
    })
    expect(await store.count({ teamId: '5' })).toBe(2)
    expect(await transfer(store, { from: '1', to: '5', domains: manyDomains(3) })).toHaveLength(3)
    expect(await transfer(store, { from: '1', to: '5', domains: manyDomains(3) })).toEqual([])
  })

  test('makes room under the limit of the former team immediately', async () => {
    const store = createLimited()
    await save(store, '5', manyDomains(5))
    await transfer(store, { from: '5', to: '1', domains: manyDomains(1) })
    const { data } = await registerDomains({ ...team1, teamId: '5' }, { domains: ['new.com'] }, store)
    expect(data.totals.created).toBe(1)
  })

  test('to another spelling of the same team ID throws a TypeError and transfers nothing', async () => {
    const store = createStore()
    const before = await save(store, '1', ['a.com'])
    const numbering = { ...store, findTeam: (id: string) => store.findTeam(String(Number(id))) }
    const error = await rejection(transfer(numbering, { from: '1', to: '01' }))
    expect(error).toEqual(new TypeError('The options "from" and "to" must be different teams'))
    expect(await store.list()).toEqual(before.map(each => expect.objectContaining({ domainId: each.domainId })))
  })

  test.each<[what: string, options: unknown, message: string]>([
    ['to the same team', { from: '1', to: '1' }, 'must be different teams'],
    ['without a new team', { from: '1' }, '"to" must be the ID of a team'],
    ['from a team ID that is a number', { from: 1, to: '2' }, '"from" must be the ID of a team'],
    [
      'of undefined instead of an array',
      { from: '1', to: '2', domains: undefined },
      '"domains" must be an array of strings',
    ],
    ['of a string instead of an array', { from: '1', to: '2', domains: 'a.com' }, '"domains" must be an array'],
    [
      'of too many names',
      { from: '1', to: '2', domains: manyDomains(1001) },
      'At most 1000 domains are accepted at once',
    ],
    ['with an unknown option', { from: '1', to: '2', all: true }, '"all" does not exist'],
  ])('%s throws a TypeError', async (_, options, message) => {
    const error = await rejection(transfer(createStore(), options as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(message)
  })

  test('with a store that cannot transfer throws a TypeError', async () => {
    const { transfer: _, ...store } = createStore()
    const error = await rejection(transfer(store, { from: '1', to: '2' }))
    expect(String(error)).toContain('TypeError: The store has no method "transfer"')
  })

  test('to a team with a limit fails, and changes nothing, if the store does not count the names', async () => {
    const store = createLimited()
    await save(store, '1', ['a.com'])
    const blind = {
      ...store,
      transfer: (request: Parameters<NonNullable<ManagedStore['transfer']>>[0]) =>
        store.transfer?.({ ...request, needsCount: false }) as never,
    }
    const error = await rejection(transfer(blind, { from: '1', to: '5', domains: ['a.com'] }))
    expect(error).toMatchObject({ status: 500, code: 'internal_error' })
    expect(await store.count({ teamId: '1' })).toBe(1)
  })
})
