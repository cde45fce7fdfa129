import type { Push, SynchronizationErrorHandler } from '../outbox/contract.ts'
import type { Team } from '../rules/registration.ts'
import type { DomainStore } from '../store/contract.ts'
import type { ManagedStore } from '../store/managed-store.ts'

/** The optional store methods that cases call. */
type OptionalMethods = Pick<
  ManagedStore,
  'get' | 'synchronizePending' | 'countPending' | 'pendingStats' | 'retryPending' | 'settlePending' | 'listPending'
>

/** An optional part of a store. `teamCount`: the store counts a team's registrations, for teams with a limit. */
export type StoreFeature =
  | 'synchronize'
  | 'isInTransaction'
  | 'teamCount'
  | 'find'
  | 'release'
  | 'list'
  | 'count'
  | 'import'
  | 'transfer'
  | keyof OptionalMethods

/**
 * All parts of a store that `createManagedStore` creates. Bundled stores also have `import` and `transfer`.
 *
 * @example
 * const cases = domainStoreSuite({ createStore: setup => createMemoryStore(setup), features: managedStoreFeatures })
 */
export const managedStoreFeatures: readonly StoreFeature[] = [
  'synchronize',
  'teamCount',
  'find',
  'get',
  'release',
  'list',
  'count',
  'synchronizePending',
  'countPending',
  'pendingStats',
  'retryPending',
  'settlePending',
  'listPending',
]

/** A {@link DomainStore} with some of the methods of a {@link ManagedStore}. */
export interface SuiteStore extends DomainStore, Partial<OptionalMethods> {}

/** The teams and options of a new store. */
export interface StoreSetup {
  /** All teams that exist. */
  readonly teams: readonly Team[]
  /**
   * The push that the store must call, in `synchronize` or in a later sweep. Passed only if the feature `synchronize`
   * or `isInTransaction` is declared.
   */
  readonly synchronize?: Push | undefined
  /** Called with each change that could not be pushed. Passed only if the feature `synchronizePending` is declared. */
  readonly onError?: SynchronizationErrorHandler | undefined
  /**
   * The time limit of each push, in milliseconds. A lease MUST end within three times this limit, and a change that
   * failed once MUST be retried within this limit. Passed only if the feature `synchronizePending` is declared.
   */
  readonly synchronizeTimeLimit?: number | undefined
}
