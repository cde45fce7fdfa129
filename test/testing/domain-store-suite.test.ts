import { describe, expect, test } from 'vitest'
import {
  domainStoreSuite,
  managedStoreFeatures,
  type StoreCase,
  type StoreFeature,
  type StoreSetup,
  type StoreSuiteOptions,
  type SuiteStore,
} from '../../src/testing/index.ts'
import { type BrokenStore, brokenStores } from './broken-stores.ts'
import { createNaiveStore, reopenNaiveStore } from './naive-store.ts'

const features: readonly StoreFeature[] = [...managedStoreFeatures, 'import', 'transfer']
/** A real store has either `synchronize` or `isInTransaction`. */
const allFeatures: readonly StoreFeature[] = [...features, 'isInTransaction']
const naive = {
  createStore: (setup: StoreSetup) => createNaiveStore(setup),
  reopenStore: (store: SuiteStore, setup: StoreSetup) => reopenNaiveStore(store, setup),
}
const allCases = domainStoreSuite({ ...naive, features: allFeatures })

const createBrokenStore = (setup: StoreSetup, steps: BrokenStore[2]) =>
  createNaiveStore(setup, typeof steps === 'function' ? steps() : steps)

/** Runs cases concurrently. Returns the cases that failed, and why. */
async function findFailures(options: StoreSuiteOptions): Promise<Map<string, Error>> {
  const cases = domainStoreSuite(options)
  const outcomes = await Promise.allSettled(cases.map(({ run }) => run()))
  return new Map(
    outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [[(cases[index] as StoreCase).id, outcome.reason as Error]] : [],
    ),
  )
}

describe('the cases of the suite', () => {
  test('have unique IDs in kebab case, and names that begin with their level, MUST or SHOULD', () => {
    expect(new Set(allCases.map(({ id }) => id)).size).toBe(allCases.length)
    expect(new Set(allCases.map(({ name }) => name)).size).toBe(allCases.length)
    for (const { id, level, name } of allCases) {
      expect(id).toMatch(/^[a-z]+(?:-[a-z]+)*$/)
      expect(name.split(' ')[0], name).toBe(level)
    }
  })

  test('all pass on a store that leaves its pushes to another store', async () => {
    const createStore = (setup: StoreSetup): SuiteStore => {
      const { findTeam, register } = createNaiveStore(setup)
      return { findTeam, register, isInTransaction: true }
    }
    const later: readonly StoreFeature[] = ['isInTransaction', 'teamCount']
    expect([...(await findFailures({ createStore, features: later }))]).toEqual([])
  })

  test('are left out if they need a feature that the store does not have', () => {
    const listed = (...some: StoreFeature[]) =>
      domainStoreSuite({ createStore: setup => createNaiveStore(setup), features: some }).map(({ id }) => id)
    expect(listed('release')).toContain('release-frees-names')
    expect(listed('release')).not.toContain('release-during-a-push')
    expect(listed('synchronize').filter(id => /releas|^pending/.test(id))).toEqual([])
    expect(listed().length).toBeLessThan(listed('synchronize').length)
  })
})

describe('each case of the suite', () => {
  const options = { ...naive, features, timeLimit: 20_000 }
  for (const { id, run } of domainStoreSuite(options)) test.concurrent(`${id} passes on a slow, correct store`, run)

  test('has a broken store that it must catch', () => {
    expect(
      brokenStores.map(([id]) => id),
      'one broken store for each case, in the order of the cases',
    ).toEqual(allCases.map(({ id }) => id))
  })

  // Most cases detect a defect only when a time limit has passed.
  for (const [id, breaks, steps, declared = features] of brokenStores)
    test.concurrent(`${id} catches a store that ${breaks}`, async () => {
      const createStore = (setup: StoreSetup) => createBrokenStore(setup, steps)
      const reopenStore = (store: SuiteStore, setup: StoreSetup) =>
        reopenNaiveStore(store, setup, typeof steps === 'function' ? steps() : steps)
      const options = { createStore, reopenStore, features: declared, timeLimit: 2000 }
      const found = domainStoreSuite(options).find(each => each.id === id)
      await expect(found?.run()).rejects.toThrow(/: expected .+, got /s)
    })
})

describe('a running case', () => {
  const [first] = allCases
  const createStore = (setup: Parameters<typeof createNaiveStore>[0]) => createNaiveStore(setup)
  const listed = (options: Partial<StoreSuiteOptions>) => domainStoreSuite({ createStore, features, ...options })
  const find = (cases: readonly StoreCase[], id: string) => cases.find(each => each.id === id) as StoreCase

  test('closes every store that it created, even if it fails', async () => {
    for (const changes of [{}, { findTeam: () => ({ id: '1', organizationId: '1', state: 'active' as const }) }]) {
      const opened = new Set<object>()
      const closed = new Set<object>()
      const cases = listed({
        createStore(setup) {
          const store = { ...createNaiveStore(setup), ...changes }
          opened.add(store)
          return store
        },
        closeStore: store => void closed.add(store),
      })
      await Promise.allSettled([find(cases, 'unknown-team-is-null').run(), find(cases, 'begins-empty').run()])
      expect(opened.size).toBe(3)
      expect(closed).toEqual(opened)
    }
  })

  test.each(['pending-is-shared', 'release-overtakes-nothing'])(
    'completes the pushes that it delayed, even if it fails (%s)',
    async id => {
      let [begun, ended] = [0, 0]
      const [, , steps] = brokenStores.find(each => each[0] === id) as (typeof brokenStores)[number]
      const cases = listed({
        createStore: setup =>
          createBrokenStore(
            {
              ...setup,
              async synchronize(changes, context) {
                begun += 1
                await setup.synchronize?.(changes, context)
                ended += 1
              },
            },
            steps,
          ),
        timeLimit: 500,
      })
      await expect(find(cases, id).run()).rejects.toThrow(id)
      expect(begun).toBeGreaterThan(0)
      expect(ended).toBe(begun)
    },
  )

  test('rejects if a store cannot be created or closed', async () => {
    const down = () => Promise.reject(new Error('no database'))
    await expect(listed({ createStore: down })[0]?.run()).rejects.toThrow(
      `${first?.id}: expected no failure, got Error: no database`,
    )
    await expect(listed({ closeStore: down })[0]?.run()).rejects.toThrow('no database')
  })

  test('rejects if a store times out', async () => {
    const hang = () => new Promise<never>(() => {})
    const cases = listed({ createStore: setup => ({ ...createNaiveStore(setup), findTeam: hang }), timeLimit: 500 })
    await expect(find(cases, 'finds-a-team').run()).rejects.toThrow(
      'finds-a-team: expected a response, got none: No response within the time limit of 500 ms',
    )
  })

  test('reports the expected and the actual value if it fails', async () => {
    const cases = listed({ createStore: setup => ({ ...createNaiveStore(setup), findTeam: () => undefined as never }) })
    await expect(find(cases, 'unknown-team-is-null').run()).rejects.toThrow(
      "unknown-team-is-null: findTeam('77'): expected null, got undefined",
    )
  })
})
