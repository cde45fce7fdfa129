import type { Push } from '../outbox/contract.ts'
import type { StoreFeature, StoreSetup, SuiteStore } from './suite-store.ts'

/** One claim about a store, and its test. */
export interface StoreCase {
  /**
   * The ID of the case, in kebab case. The ID is stable across versions, so you can list the cases that your store is
   * known to fail.
   */
  readonly id: string
  /**
   * As in RFC 2119. A store that fails a `MUST` gives wrong results, or registers names that it should not. There may
   * be a good reason to fail a `SHOULD`.
   */
  readonly level: 'MUST' | 'SHOULD'
  /** The claim, which begins with the level. */
  readonly name: string
  /**
   * Creates a store, tests it, and closes it.
   *
   * @returns A promise that rejects with an `Error` if the claim does not hold, or the store does not respond within
   *   the time limit. The message contains the expected and the actual value.
   */
  run(): Promise<void>
}

export interface CaseDefinition {
  readonly id: string
  readonly name: `${StoreCase['level']} ${string}`
  /** The features that a store must have for the case to apply. Default: none. */
  readonly needs?: readonly StoreFeature[]
  /** Whether the case applies only to stores that can be reopened. */
  readonly reopens?: boolean
  test(trial: Trial): Promise<void>
}

/** The argument of a case's `test`. */
export interface Trial {
  readonly features: readonly StoreFeature[]
  /** Creates an empty store. */
  open(synchronize?: Push, more?: Pick<StoreSetup, 'onError' | 'synchronizeTimeLimit'>): Promise<SuiteStore>
  /** Opens another store over the data of a store, with the same options. */
  reopen(store: SuiteStore): Promise<SuiteStore>
  /**
   * Adds work that runs during the case, given as a promise. When the case has passed or failed, the suite calls `end`
   * and awaits this promise.
   *
   * @returns The work.
   */
  alongside<T>(work: Promise<T>, end: () => void): Promise<T>
}
