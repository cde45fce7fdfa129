import type { Awaitable } from '../awaitable.ts'
import type {
  Change,
  DomainStore,
  ListOptions,
  Registration,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
  Team,
} from '../registry/store.ts'

/** An optional part of a store. */
export type StoreFeature =
  | 'synchronize'
  | 'synchronizesLater'
  | 'synchronizePending'
  | 'countPending'
  | 'release'
  | 'list'

/** A {@link DomainStore} with the optional methods that all bundled stores have. */
export interface SuiteStore extends DomainStore {
  /** Pushes at most `limit` changes that are due, the oldest first. */
  synchronizePending?(options?: SweepOptions): Awaitable<SweepResult>
  /** Counts the changes that wait to be pushed. */
  countPending?(): Awaitable<number>
  /**
   * Releases registrations of a team, and passes over names that the team does not hold.
   *
   * @returns The released registrations.
   */
  release?(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  /** Lists registrations in the order in which they were made, by page. */
  list?(options?: ListOptions): Awaitable<readonly Registration[]>
}

/** The teams and options of a new store. */
export interface StoreSetup {
  /** All teams that exist. */
  readonly teams: readonly Team[]
  /**
   * The push that the store makes, in `synchronize` or in a later sweep. Passed only if the feature `synchronize` or
   * `synchronizesLater` is declared.
   */
  readonly synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /** Called with each change that could not be pushed. Passed only if the feature `synchronizePending` is declared. */
  readonly onError?: SynchronizationErrorHandler | undefined
  /**
   * Milliseconds for each push. A lease MUST end within three times this limit, and a change that failed once MUST be
   * tried again within it. Passed only if the feature `synchronizePending` is declared.
   */
  readonly synchronizeTimeLimit?: number | undefined
}
