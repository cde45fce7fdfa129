import { hasMethods, optional, type Rule } from '../options.ts'
import type { Name } from '../rules/name.ts'
import type { GivenRefusal } from '../rules/submitted.ts'
import type { Awaitable } from '../time/awaitable.ts'

/*
 * Names that wait:
 *
 * | who waits | a name that `checkNames` refused with `waits`: a record or an approval is missing |
 * | where | in a table of its own, so it survives the process and the page; it holds nothing |
 * | how many | 1,000 for each team; a name beyond that is not kept, and its result does not say so |
 * | what one more costs the others | nothing: a turn takes at most 100 due names of one team |
 * | whose turn is next | a team by lot among those with due names; of a team, what has been due longest |
 * | for how long | 14 days, and then until a try that got an answer |
 */

/** Why a name waits: what `checkNames` said last. */
export type WaitingReason = Pick<GivenRefusal, 'code' | 'reason' | 'message' | 'record'>

/** A name to keep, with the word of `checkNames` on it. */
export interface NameToKeep extends Name {
  readonly refusal: WaitingReason
}

/** A name that a team wants, and that `checkNames` has refused with `waits`. Another team may register it first. */
export interface WaitingName extends NameToKeep {
  readonly teamId: string
  /** When the team first asked for the name. */
  readonly since: Date
  /** After the first try from this time on that gets an answer, the name is forgotten. */
  readonly until: Date
  readonly lastTried: Date
  readonly nextTry: Date
  /** How often the name was taken since the team last asked for it. */
  readonly tries: number
}

/** A name whose turn it is. */
export interface TakenName extends WaitingName {
  /** Whether `until` has come, by the store's clock. */
  readonly isLast: boolean
}

/** What becomes of a name that was taken: `tries` and `until` are as the store returned them then. */
export type Tried = Pick<WaitingName, 'domain' | 'tries' | 'until'> &
  (
    | { readonly isOver: true }
    /** The name is due again after `wait` milliseconds. With a `refusal`, the name was tried now. */
    | { readonly isOver?: false; readonly wait: number; readonly refusal?: WaitingReason | undefined }
  )

/** Figures about the names that wait. */
export interface WaitingStats {
  readonly count: number
  /**
   * For how many milliseconds the name that has been due longest has been due; 0 if none is due. If this exceeds an
   * hour, nothing retries.
   */
  readonly overdue: number
}

/**
 * A store of names that wait. All times are those of the store's clock, and all durations are milliseconds.
 *
 * A store MUST serve any number of processes at once, and each method MUST be one atomic step. `waitingStoreSuite` of
 * `domain-registration/testing` has a case for each MUST.
 */
export interface WaitingStore {
  /** Whether the store works in a transaction of the application; see {@link DomainStore}. */
  readonly isInTransaction?: boolean
  /**
   * Keeps names of a team, each for `keepFor`, and makes them due after `wait`. A name that is kept already MUST become
   * as new, except for its `since`. A team MUST NOT get more than `most` names.
   *
   * @returns The names that are kept, in any order, and `overdue` as in {@link WaitingStats}.
   */
  keep(
    teamId: string,
    names: readonly NameToKeep[],
    options: { readonly wait: number; readonly keepFor: number; readonly most: number },
  ): Awaitable<{ readonly kept: readonly WaitingName[]; readonly overdue: number }>
  /** @returns The names that were kept, and no longer are. */
  remove(teamId: string, domains: readonly string[]): Awaitable<readonly string[]>
  /**
   * Takes due names of one team, which MUST be chosen by lot among those with due names, however many each has: among
   * the 10,000 names that have been due longest is enough. Adds one to their `tries`, and makes them due again after
   * `lease`. A name MUST NOT be taken twice within its lease. Simultaneous calls SHOULD NOT share the due names of a
   * team: if it has room for one more, the name that has waited longest is meant to get it.
   */
  take(options: { readonly limit: number; readonly lease: number }): Awaitable<readonly TakenName[]>
  /**
   * Saves what became of names. A name MUST be left as it is if its `tries` or `until` differ: somebody else has taken
   * or kept it.
   *
   * @param hasten The team's names below these registrable domains MUST become due at once, except those that are due
   *   within `lease` anyway: another process may be trying them.
   * @returns The names in `tried` that were changed.
   */
  settle(
    teamId: string,
    tried: readonly Tried[],
    hasten?: { readonly registrableDomains: readonly string[]; readonly lease: number },
  ): Awaitable<readonly string[]>
  /** Lists all names of a team, in the order of their domains. */
  list(teamId: string): Awaitable<readonly WaitingName[]>
  /** Returns figures about the names of all teams. */
  stats(): Awaitable<WaitingStats>
}

const isWaitingStore = (store: unknown) => hasMethods(store, 'keep', 'remove', 'take', 'settle', 'list', 'stats')
const expected = 'a store of names that wait, such as createMemoryWaitingStore()'

export const waitingRule: Rule = { holds: optional(isWaitingStore), expected }
export const requiredWaitingRule: Rule = { holds: isWaitingStore, expected }
