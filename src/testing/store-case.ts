import type { Awaitable } from '../awaitable.ts'
import type { Change } from '../registry/store.ts'
import type { StoreCase, StoreFeature, StoreSetup, SuiteStore } from './domain-store-suite.ts'

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
