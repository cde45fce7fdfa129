import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { previewDomains } from '../../src/index.ts'
import { createRegistrationRequest } from '../../src/operations/create-request.ts'
import { createSqliteStore, sqliteSchema } from '../../src/sqlite/index.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { domainStoreSuite, managedStoreFeatures, type StoreSetup, type SuiteStore } from '../../src/testing/index.ts'
import { rejection } from '../fixtures.ts'
import { describeSharedTables } from '../sql/shared-tables.ts'
import { describeTwoLists, findTeam } from '../sql/two-lists.ts'
import { createFolder } from './create-folder.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

const { open } = createFolder()

describe('the SQLite store', () => {
  const databases = new Map<SuiteStore, TestDatabase>()
  function create({ teams, ...options }: StoreSetup, database = openDatabase()) {
    const store = createSqliteStore({
      ...options,
      database,
      findTeam: id => teams.find(team => team.id === id) ?? null,
    })
    databases.set(store, database)
    return store
  }
  const cases = domainStoreSuite({
    createStore: setup => create(setup),
    reopenStore: (store, setup) => create(setup, databases.get(store)),
    closeStore(store) {
      const database = databases.get(store)
      for (const [each, shared] of databases) if (shared === database) databases.delete(each)
      database?.close()
    },
    features: [...managedStoreFeatures, 'import', 'transfer'],
    timeLimit: 20_000,
  })
  // Each case has its own database, and many only wait.
  for (const { name, run } of cases) test.concurrent(name, run)
})

describeSharedTables(async () => {
  const database = open()
  return options => createSqliteStore({ database, findTeam, ...options })
})

describeTwoLists(async () => {
  const database = open()
  return ({ createSqliteStore }) => createSqliteStore({ database, findTeam })
})

test('after a migration from version 1, each release is pushed, after the registration that it follows', async () => {
  const database = open()
  database.exec(readFileSync(new URL('schema-1.sql', import.meta.url), 'utf8'))
  for (const [id, kind, follows] of [
    ['1', 'registered', null],
    ['2', 'released', '1'],
    ['3', 'released', '4'], // ID 4 is no longer pending.
  ] as const) {
    database
      .prepare(
        `INSERT INTO domain_registration_changes
           (domain_id, kind, domain, registrable_domain, team_id, due, since, follows)
         VALUES (?, ?, 'a.com', 'a.com', '1', 0, 0, ?)`,
      )
      .run(id, kind, follows)
  }
  const pushed: string[] = []
  const store = createSqliteStore({
    database,
    findTeam,
    batchSize: 1,
    synchronize: changes => void pushed.push(...changes.map(({ domainId }) => domainId)),
  })
  await store.synchronizePending()
  expect(pushed.toSorted()).toEqual(['1', '2', '3'])
  expect(pushed.indexOf('2')).toBeGreaterThan(pushed.indexOf('1'))
})

describe('times in SQLite:', () => {
  const DAY = 86_400_000
  afterEach(() => void vi.useRealTimers())
  const setClock = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })

  function openStore() {
    const pushed: string[] = []
    const refused = new Set<string>()
    const database = open()
    const store = createSqliteStore({
      database,
      findTeam,
      onError() {},
      synchronize(changes) {
        if (changes.some(({ domain }) => refused.has(domain))) throw new Error('refused')
        pushed.push(...toDomains(changes))
      },
      synchronizeTimeLimit: 1234.5,
    })
    return { database, store, pushed, refused }
  }

  test('new IDs of calls and transfers sort last, even if the clocks of two processes differ by a day', async () => {
    const { database, store } = openStore()
    const other = createSqliteStore({ database, findTeam })
    const now = Date.now()
    setClock(now + DAY)
    await save(store, '1', ['a.com', 'b.com'])
    setClock(now)
    await save(other, '1', ['c.com', 'd.com'])
    expect(toDomains(await store.list())).toEqual(['a.com', 'b.com', 'c.com', 'd.com'])
    await other.transfer?.({ from: '1', to: '2', domains: ['a.com'], needsCount: false, decide: () => true })
    expect(toDomains(await store.list())).toEqual(['b.com', 'c.com', 'd.com', 'a.com'])
    // The order of the following names must not depend on the random parts of their IDs.
    const domains = manyDomains(20)
    for (const [index, domain] of domains.entries()) {
      setClock(now + (index % 2) * DAY)
      await save(index % 2 ? store : other, '1', [domain])
    }
    expect(toDomains(await store.list()).slice(4)).toEqual(domains)
  })

  test('changes that were postponed while the clock was a day ahead are pushed once the clock is right', async () => {
    const { store, pushed, refused } = openStore()
    const now = Date.now()
    const saved = await save(store, '1', ['refused.com', 'b.com'])
    setClock(now + DAY)
    refused.add('refused.com')
    await rejection(Promise.resolve(store.synchronize?.(saved)))
    await save(store, '1', ['a.com'])
    refused.clear()
    setClock(now)
    expect(await store.synchronizePending()).toEqual({ synchronized: 2, failed: 0 })
    expect(pushed.toSorted()).toEqual(['a.com', 'b.com', 'refused.com'])
  })

  test('a synchronizeTimeLimit of a fraction of a millisecond is accepted', async () => {
    const { store, pushed } = openStore()
    await store.synchronize?.(await save(store, '1', ['a.com']))
    await save(store, '1', ['b.com'])
    await store.release('1', ['a.com', 'b.com'])
    await store.synchronizePending()
    expect(pushed).toEqual(['a.com', 'a.com'])
    expect(await store.countPending()).toBe(1)
  })
})

const context = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
const body = { domains: ['*.example.com'] }

/** Calls `interrupt` after each statement that reads names. */
function interruptReads(database: TestDatabase, interrupt: () => void): TestDatabase {
  return {
    exec: sql => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      if (!/^SELECT .*domain_registration_names/s.test(sql)) return statement
      return {
        run: (...values) => statement.run(...values),
        all(...values) {
          const rows = statement.all(...values)
          interrupt()
          return rows
        },
      }
    },
  }
}

test('all reads of a preview see the same data, even if another process registers a name in between', async () => {
  const other = createSqliteStore({ database: open('one-state'), findTeam })
  const name = { domain: '*.example.com', registrableDomain: 'example.com' }
  let registered: unknown
  const database = interruptReads(open('one-state'), () => {
    registered ??= other.register(createRegistrationRequest({ teamId: '1', submitted: [name], timeLimit: 5000 }))
  })
  const store = createSqliteStore({ database, findTeam })
  const { data } = await previewDomains(context, body, store)
  expect(data.results).toMatchObject([{ status: 'created' }])
  await registered
  expect((await previewDomains(context, body, store)).data.results).toMatchObject([{ status: 'existing' }])
})

const toBigInts = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )

test.each([
  ['safeIntegers', toBigInts],
  ['setReadBigInts', toBigInts],
  ['setReturnArrays', Object.values],
])(
  'a store returns numbers and objects, even if the application has turned on %s for the database',
  async (set, change) => {
    const database = open()
    const changed: TestDatabase = {
      exec: sql => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        let isOn = true
        const setting = {
          [set](value: boolean) {
            isOn = value
          },
        }
        return {
          ...setting,
          reader: statement.reader,
          run: (...values) => statement.run(...values),
          all: (...values) => statement.all(...values).map((row: unknown) => (isOn ? change(row as object) : row)),
        }
      },
    }
    const store = createSqliteStore({ database: changed, findTeam, synchronize() {} })
    const saved = await save(store, '1', ['example.com'])
    expect(await store.list()).toEqual(saved)
    expect(await store.listPending()).toMatchObject([{ domain: 'example.com', refusals: 0 }])
  },
)

test('retryPending makes all 1,500 failed changes due, and returns their number', async () => {
  const database = open()
  const store = createSqliteStore({ database, findTeam, synchronize() {} })
  const domains = manyDomains(1500)
  for (let start = 0; start < 1500; start += 500) await save(store, '1', domains.slice(start, start + 500))
  database.exec("UPDATE domain_registration_changes SET last_failure = 'Error: refused'")
  expect([await store.retryPending(), await store.retryPending()]).toEqual([1500, 0])
})

test('a database contains only one monitor record, even if several stores sweep it repeatedly', async () => {
  const database = open()
  for (let start = 0; start < 2; start += 1) {
    const store = createSqliteStore({ database, findTeam, synchronize() {} })
    for (let sweep = 0; sweep < 2; sweep += 1) await store.synchronizePending()
  }
  expect(database.prepare('SELECT count(*) AS count FROM domain_registration_monitor').all()).toEqual([{ count: 1 }])
})

test('a store creates missing tables if a migration tool has stopped before recording the version', async () => {
  const database = open()
  const [unfinished = ''] = sqliteSchema().split('INSERT INTO domain_registration_version')
  database.exec(`${unfinished}; DROP TABLE domain_registration_names`)
  const store = createSqliteStore({ database, findTeam })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
})
