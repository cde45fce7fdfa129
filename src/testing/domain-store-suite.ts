import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline } from '../time/deadline.ts'
import { allOrNothingCases } from './all-or-nothing-cases.ts'
import { countOfTeam } from './calls.ts'
import { checkEqual, describeFailedCase } from './check.ts'
import { findCases, getCases } from './find-cases.ts'
import { hostileTextCases } from './hostile-text-cases.ts'
import { importCases } from './import-cases.ts'
import { limitCases } from './limit-cases.ts'
import { listCases } from './list-cases.ts'
import { lookUpCases } from './look-up-cases.ts'
import { overlapCases } from './overlap-cases.ts'
import { pendingCases } from './pending-cases.ts'
import { raceCases } from './race-cases.ts'
import { refusalCases } from './refusal-cases.ts'
import { registrationCases } from './registration-cases.ts'
import { releaseCases } from './release-cases.ts'
import type { CaseDefinition, StoreCase, Trial } from './store-case.ts'
import { suffixListCases } from './suffix-list-cases.ts'
import { managedStoreFeatures, type StoreFeature, type StoreSetup, type SuiteStore } from './suite-store.ts'
import { sweepCases } from './sweep-cases.ts'
import { laterCases, synchronizationCases } from './synchronization-cases.ts'
import { teamCases, teams } from './team-cases.ts'
import { transferCases } from './transfer-cases.ts'

/** Options of {@link domainStoreSuite}. */
export interface StoreSuiteOptions<Store extends SuiteStore = SuiteStore> {
  /** Creates a store without registrations. Called at least once for each case. */
  createStore(setup: StoreSetup): Awaitable<Store>
  /**
   * Opens another store over the data of a store, as a new process does, and closes nothing. Some cases sweep with a
   * new store each time, as a job in a serverless function does; without this function, they are left out.
   *
   * @param store A store that {@link createStore} returned.
   * @param setup What `createStore` got for this store.
   */
  reopenStore?: ((store: Store, setup: StoreSetup) => Awaitable<Store>) | undefined
  /** Closes a store that {@link createStore} or {@link reopenStore} returned, whether or not its case passed. */
  closeStore?: ((store: Store) => Awaitable<unknown>) | undefined
  /**
   * The optional parts of the store. Cases for parts that are not listed are left out. One case checks that the store
   * has exactly the listed parts.
   */
  features: readonly StoreFeature[]
  /** The time limit of a case, in milliseconds. Default 4,000, which is less than the time limits of test runners. */
  timeLimit?: number | undefined
}

/**
 * Returns the conformance suite for your own store. Every store that you pass to `registerDomains` should pass the
 * cases of this suite, which include racing calls and hostile names. The suite works with any test runner: each case
 * has a name, and a function that rejects if the store fails the case.
 *
 * The cases are independent and may run in any order, and concurrently if {@link StoreSuiteOptions.createStore} makes
 * stores that share nothing.
 *
 * The suite cannot check three things, because a caller does not observe them: whether registrations outlive the
 * process, whether calls that share no registrable domain wait for each other, and what a call costs with many
 * registrations.
 *
 * @returns The cases that apply, always in the same order.
 *
 * @example <caption>Vitest</caption>
 * import { domainStoreSuite } from 'domain-registration/testing'
 * import { test } from 'vitest'
 *
 * const cases = domainStoreSuite({
 *   createStore: ({ teams, synchronize }) => createMyStore({ teams, synchronize }),
 *   closeStore: store => store.close(),
 *   features: ['synchronize', 'release'],
 * })
 * for (const { name, run } of cases) test(name, run)
 *
 * @example <caption>node:test</caption>
 * import { test } from 'node:test'
 *
 * for (const { name, run } of cases) test(name, run)
 *
 * @example <caption>A failed SHOULD is reported, but does not fail the run</caption>
 * import { test } from 'node:test'
 *
 * for (const { level, name, run } of cases) test(name, { todo: level === 'SHOULD' }, run)
 */
export function domainStoreSuite<Store extends SuiteStore>(options: StoreSuiteOptions<Store>): readonly StoreCase[] {
  const has = (feature: StoreFeature) => options.features.includes(feature)
  return definitions
    .filter(({ needs = [], reopens }) => needs.every(has) && (!reopens || options.reopenStore))
    .map(definition => ({
      id: definition.id,
      level: definition.name.startsWith('MUST') ? 'MUST' : 'SHOULD',
      name: definition.name,
      run: () => runCase(definition, options),
    }))
}

const featureCases: readonly CaseDefinition[] = [
  {
    id: 'features-are-as-declared',
    name: 'MUST have exactly the optional methods and properties that `features` lists',
    async test({ open, features }) {
      const isPushed = features.includes('synchronize') || features.includes('isInTransaction')
      const store = await open(isPushed ? () => {} : undefined)
      const isThere = (part: StoreFeature) =>
        typeof (store as Partial<Record<StoreFeature, unknown>>)[part] === 'function'
      const found: StoreFeature[] = managedStoreFeatures.filter(isThere)
      for (const part of ['import', 'transfer'] as const) {
        if (features.includes(part) && isThere(part)) found.push(part)
      }
      if (store.isInTransaction) found.push('isInTransaction')
      if ((await countOfTeam(store, '1')) !== undefined) found.push('teamCount')
      checkEqual('the optional parts of the store', found.sort(), [...features].sort())
    },
  },
]

const withFeatures = (needs: readonly StoreFeature[], cases: readonly CaseDefinition[]): readonly CaseDefinition[] =>
  cases.map(definition => ({ ...definition, needs: [...needs, ...(definition.needs ?? [])] }))

const definitions: readonly CaseDefinition[] = [
  ...featureCases,
  ...teamCases,
  ...registrationCases,
  ...lookUpCases,
  ...overlapCases,
  ...suffixListCases,
  ...raceCases,
  ...allOrNothingCases,
  ...hostileTextCases,
  ...synchronizationCases,
  ...withFeatures(['isInTransaction'], laterCases),
  ...withFeatures(['find'], findCases),
  ...withFeatures(['get', 'release'], getCases),
  ...withFeatures(['release'], releaseCases),
  ...withFeatures(['synchronize', 'synchronizePending'], [...sweepCases, ...refusalCases, ...pendingCases]),
  ...withFeatures(['list'], listCases),
  ...withFeatures(['teamCount'], limitCases),
  ...withFeatures(['import', 'list', 'release', 'synchronizePending', 'countPending'], importCases),
  ...withFeatures(['transfer', 'teamCount', 'list', 'release', 'synchronizePending', 'countPending'], transferCases),
]

/** The cases cause refusals on purpose, so these are not logged. */
const quiet = { onError: () => {} }

async function runCase<Store extends SuiteStore>(
  { id, test }: CaseDefinition,
  { createStore, reopenStore, closeStore, features, timeLimit = 4000 }: StoreSuiteOptions<Store>,
): Promise<void> {
  const opened: Store[] = []
  const setups = new Map<SuiteStore, StoreSetup>()
  const underWay: { readonly settled: Promise<unknown>; end(): void }[] = []
  const trial: Trial = {
    features,
    async open(synchronize, more = {}) {
      const setup = { teams, synchronize, ...(features.includes('synchronizePending') && quiet), ...more }
      const store = await createStore(setup)
      opened.push(store)
      setups.set(store, setup)
      return store
    },
    async reopen(store) {
      const reopened = await reopenStore?.(store as Store, setups.get(store) as StoreSetup)
      if (!reopened) throw new TypeError('reopenStore must return a store')
      opened.push(reopened)
      return reopened
    },
    alongside(work, end) {
      underWay.push({ settled: Promise.allSettled([work]), end })
      return work
    },
  }
  try {
    await createDeadline(timeLimit).wait(test(trial))
  } catch (cause) {
    throw new Error(`${id}: ${describeFailedCase(cause)}`, { cause })
  } finally {
    for (const { end } of underWay) end()
    // Work that never ends is awaited only until the time limit: its case has already failed.
    await Promise.allSettled(underWay.map(({ settled }) => createDeadline(timeLimit).wait(settled)))
    for (const store of opened) await createDeadline(timeLimit).wait(closeStore?.(store))
  }
}
