import { isFunction, optional, type Rule } from '../options.ts'
import type { Change, Registration } from '../rules/registration.ts'
import type { Awaitable } from '../time/awaitable.ts'

/** A change that {@link Outbox.take} has leased. */
export interface LeasedChange extends Change {
  /** How often the monitor has refused the change. */
  readonly refusals: number
}

/** A change to retry later. */
export interface Postponement {
  readonly change: Change
  /** Milliseconds until the change is due. */
  readonly wait: number
  /**
   * Why the push failed. Replaces the saved reason of an earlier failure. `undefined` if no push failed: the saved
   * reason then stays.
   */
  readonly failure?: string | undefined
  /** How often the monitor has refused the change, as far as the caller knows. The larger number is kept. */
  readonly refusals: number
}

/** Figures about the pending changes. */
export interface PendingStats {
  readonly count: number
  /** How many of the pending changes the monitor has refused at least once. */
  readonly refused: number
  /** Since when the oldest change has been pending; `null` if no change is pending. */
  readonly oldest: Date | null
  /** Of the refused changes, the one that has been pending the longest; `null` if no change is refused. */
  readonly longestRefused: PendingChange | null
}

/** A pending change in a list. */
export interface PendingChange extends LeasedChange {
  /** When a sweep will push the change, if no push of the change is under way. */
  readonly nextAttempt: Date
  /** The error with which the last push failed, shortened. `null` if no push failed. */
  readonly lastFailure: string | null
}

/**
 * The outbox: the pending changes of a store. Each method is one atomic step. Each `domainId` has at most one pending
 * change: its registration or its release. A release replaces a registration that is still pending.
 *
 * When a registration is transferred, the release of its former ID follows the registration of its new ID. If the new
 * registration is transferred while it is pending, the release follows the registration of the next ID instead.
 *
 * Each change has a time at which it becomes due. A lease only delays the due time of a change, so no other process
 * pushes the change until the lease expires. If a lease expires too early, the change is pushed twice. Pushing twice is
 * allowed, because delivery is at least once.
 */
export interface Outbox {
  /**
   * MUST lease at most `limit` due changes and return them. A release that follows a registration MUST be left out
   * while that registration is pending. Changes that were never refused come first, then the refused ones. Otherwise
   * changes that are always refused would block newer changes. In both groups, the changes that have been due the
   * longest come first. A change whose due time is more than an hour plus a lease ahead MUST count as due: no wait is
   * that long, so a clock was wrong when the change was postponed.
   *
   * @param lease In milliseconds.
   */
  take(limit: number, lease: number): Awaitable<readonly LeasedChange[]>
  /**
   * MUST delete the pushed changes, except those whose kind has changed since they were leased. If a release has
   * replaced a pushed registration in the meantime, the release stays and becomes due at once.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /**
   * MUST postpone changes, except those whose kind has changed since they were leased. MUST also save the reason for
   * each failure, and MUST raise the number of refusals to `refusals`.
   */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
  /**
   * MUST make a change due only if its push failed: the first push of any other change may be under way.
   *
   * @param domainIds Default: all.
   * @returns How many changes became due.
   */
  retry(domainIds?: readonly string[]): Awaitable<number>
  /**
   * MUST delete the pending changes with these IDs, whether or not they are leased, as if the monitor had accepted
   * them.
   *
   * @returns How many changes were deleted.
   */
  settle(domainIds: readonly string[]): Awaitable<number>
  stats(): Awaitable<PendingStats>
  /** Lists at most `limit` changes in order of `domainId`, after the given ID. */
  list(after: string | undefined, limit: number): Awaitable<readonly PendingChange[]>
}

/** An {@link Outbox} with the methods that its store uses within the atomic steps of calls. */
export interface StoreOutbox extends Outbox {
  /**
   * Records a change that is due after `wait` milliseconds, in place of a pending change with the same ID. The `at` of
   * a release is the current time; the `at` of a registration is its `createdAt`.
   */
  add(registration: Registration, kind: Change['kind'], wait: number): void
  /**
   * Records a transfer as two changes. The new registration is due at once. The release of the former registration
   * follows the new registration, and is due after `wait` milliseconds. If the former registration is pending, the two
   * changes replace it.
   */
  transfer(former: Registration, registration: Registration, wait: number): void
  /** Leases pending registrations, except any that are not yet due when the lease ends. */
  lease(registrations: readonly Registration[], lease: number): void
}

/**
 * Your function that pushes changes to the monitor. The function must reject if any change failed. After a rejection,
 * the changes are retried in smaller parts.
 */
export interface Push {
  /** @param context `signal` aborts when the result is no longer needed. */
  (changes: readonly Change[], context: { readonly signal: AbortSignal }): Awaitable<unknown>
  /**
   * The maximum number of changes in one push, if the store has no option `batchSize`. {@link createWebhook} sets this
   * property.
   */
  readonly batchSize?: number | undefined
}

/**
 * Thrown by your push if the monitor is unavailable. If the monitor refuses a change, throw any other error. If the
 * error has `retryAfter`, the changes of this push wait that long. A sweep ends after a few errors in a row, but not
 * after one, because a gateway may respond to a single bad change as if the monitor were unavailable. If nothing is
 * delivered, the changes stay pending, and do not count as refused.
 *
 * @example
 * const { status } = await fetch(url, { method: 'POST' })
 * if (status === 503) throw new MonitorUnavailableError(`The monitor returned ${status}`)
 */
export class MonitorUnavailableError extends Error {
  override readonly name = 'MonitorUnavailableError'
  /** Milliseconds after which to retry, if the monitor specified a time. */
  readonly retryAfter: number | undefined

  constructor(message: string, { retryAfter, ...options }: ErrorOptions & { retryAfter?: number | undefined } = {}) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}

/**
 * Compares names instead of using `instanceof`: if both the ESM and the CommonJS files are loaded, there are two such
 * classes.
 */
export function isMonitorUnavailable(error: unknown): error is MonitorUnavailableError {
  return error instanceof Error && error.name === 'MonitorUnavailableError'
}

/**
 * Called for each change that the monitor refused when it was pushed alone. Also called once, without a change, if a
 * sweep ends early because pushes fail. The handler is meant for logs: its errors and rejections are ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

export const onErrorRule: Rule = {
  holds: optional(isFunction),
  expected: 'a function that takes an error and a change',
}

/** Options of a sweep. */
export interface SweepOptions {
  /** The maximum number of changes to push. At most 1,000, which is the default. */
  limit?: number | undefined
  /** Called instead of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
  /**
   * Ends the sweep when this signal aborts: the current push is aborted, and unpushed changes are left to the next
   * sweep.
   */
  signal?: AbortSignal | undefined
}

/** The result of a sweep. */
export interface SweepResult {
  /** How many changes were pushed. */
  readonly synchronized: number
  /** How many changes were not pushed, and will be retried. */
  readonly failed: number
  /**
   * Set if the monitor reported that it is unavailable. `retryAfter` is the number of milliseconds, if the monitor
   * specified a time.
   */
  readonly unavailable?: { readonly retryAfter: number | undefined }
}

/** The longest time until a change is retried, in milliseconds. */
export const LONGEST_WAIT = 3_600_000

/** Copies the public fields of a change, and leaves out the fields that only the store uses. */
export const toChange = ({ kind, domainId, domain, registrableDomain, teamId, at }: Change): Change => ({
  kind,
  domainId,
  domain,
  registrableDomain,
  teamId,
  at,
})

/** Returns the change that records a registration, or its release at the current time. */
export const changeOf = (registration: Registration, kind: Change['kind']): Change =>
  toChange({ ...registration, kind, at: kind === 'registered' ? registration.createdAt : new Date() })
