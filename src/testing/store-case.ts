import type { Awaitable } from '../awaitable.ts'
import type { Change } from '../registry/store.ts'
import type { StoreFeature, StoreSetup, SuiteStore } from './suite-store.ts'

/** One thing that a store's callers rely on, and the proof that a store does it. */
export interface StoreCase {
  /** Kebab-case, and the same in every version: for a list of what is known to fail. */
  readonly id: string
  /**
   * In the words of RFC 2119. `MUST`: a store that fails it gives wrong answers, or registers what it should not.
   * `SHOULD`: there may be a good reason to do otherwise, but know what it costs.
   */
  readonly level: 'MUST' | 'SHOULD'
  /** What is claimed, beginning with the level. */
  readonly name: string
  /**
   * Makes a fresh store, tries it, and closes it.
   *
   * @returns A promise that rejects with an `Error` which says what was expected and what came, also when the store has
   *   not answered within the time limit.
   */
  run(): Promise<void>
}

export interface CaseDefinition {
  readonly id: string
  readonly name: `${StoreCase['level']} ${string}`
  /** What a store must have for the case to apply. None where it is missing. */
  readonly needs?: readonly StoreFeature[]
  test(trial: Trial): Promise<void>
}

/** What a case works with. */
export interface Trial {
  readonly features: readonly StoreFeature[]
  /** Makes a fresh store. */
  open(
    synchronize?: (changes: readonly Change[]) => Awaitable<unknown>,
    more?: Pick<StoreSetup, 'onError' | 'synchronizeTimeLimit'>,
  ): Promise<SuiteStore>
}
