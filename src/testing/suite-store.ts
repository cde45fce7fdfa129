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

/** A part of a store that it may be without. */
export type StoreFeature =
  | 'synchronize'
  | 'synchronizesLater'
  | 'synchronizePending'
  | 'countPending'
  | 'release'
  | 'list'

/** A {@link DomainStore}, and what the bundled stores offer their hosts beside it. */
export interface SuiteStore extends DomainStore {
  /** Pushes changes that wait and are due, the oldest first, and at most `limit`. */
  synchronizePending?(options?: SweepOptions): Awaitable<SweepResult>
  /** Counts the changes that wait to be pushed. */
  countPending?(): Awaitable<number>
  /**
   * Gives up registrations of a team; names that the team does not hold are passed over.
   *
   * @returns What was given up.
   */
  release?(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  /** Lists registrations in the order in which they were made, by page. */
  list?(options?: ListOptions): Awaitable<readonly Registration[]>
}

/** What a fresh store is to begin with. */
export interface StoreSetup {
  /** The teams that there are. No others are asked for, except to see that they are not found. */
  readonly teams: readonly Team[]
  /**
   * The push that the store's `synchronize` is to make, or that a sweep makes later. Given only where the feature
   * `synchronize` or `synchronizesLater` is listed.
   */
  readonly synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /** What learns of changes that could not be pushed. Given only where the feature `synchronizePending` is listed. */
  readonly onError?: SynchronizationErrorHandler | undefined
  /**
   * Milliseconds for each push. A store whose waits are its own MUST have a lease end within three times this limit,
   * and MUST try again what failed once within it. Given only where the feature `synchronizePending` is listed.
   */
  readonly synchronizeTimeLimit?: number | undefined
}
