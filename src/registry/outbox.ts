import type { Awaitable } from '../time/awaitable.ts'
import type { Change, Registration } from './store.ts'

/** A pending change. */
export interface WaitingChange extends Change {
  /** How often the monitor has refused it. */
  readonly refusals: number
}

/** A change to retry later. */
export interface Postponement {
  readonly change: Change
  /** Milliseconds until the change is due. */
  readonly wait: number
  /** Why the push failed; replaces an earlier reason. `undefined`: no push failed, and the earlier reason stays. */
  readonly failure?: string | undefined
  /** Whether this counts as one more refusal. */
  readonly isRefused: boolean
}

/** Figures about the pending changes. */
export interface PendingStats {
  readonly count: number
  /** How many of them have a failed push. */
  readonly refused: number
  /** Since when the oldest of them is pending; `null` if none is. */
  readonly oldest: Date | null
}

/** A pending change in a list. */
export interface PendingChange extends WaitingChange {
  /** When a sweep will push it, unless a push is under way. */
  readonly nextAttempt: Date
  /** Why the last push failed, shortened: the monitor's error. `null` if none failed. */
  readonly lastFailure: string | null
}

/**
 * The outbox: the pending changes of a store. Each method is one atomic step. A `domainId` has at most one pending
 * change, its registration or its release; a release replaces a registration that is still pending.
 *
 * The release of a transferred registration follows the registration of its new ID. If that is transferred in turn
 * while it is pending, the release follows the next one instead.
 *
 * Each change has a time at which it is due. A lease only sets that time to the future, so nobody else takes the change
 * until then. Delivery is at least once, so a lease that expires early costs a second push, not more.
 */
export interface Outbox {
  /**
   * MUST lease due changes, at most `limit`, and return them, except releases that follow a registration which is still
   * pending. Changes that were never refused come first, then the others; of each kind, those that have been due the
   * longest. Otherwise changes that are always refused would block newer ones. A change that is due later than an hour
   * and a lease from now MUST count as due: a clock that has since been corrected had postponed it.
   *
   * @param lease In milliseconds.
   */
  take(limit: number, lease: number): Awaitable<readonly WaitingChange[]>
  /**
   * MUST forget pushed changes whose kind is still the same. If a release has replaced a pushed registration in the
   * meantime, the release stays, and is due at once.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /** MUST postpone changes whose kind is still the same, save why their push failed, and count refusals. */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
  /**
   * MUST make changes due whose push failed, and no others: the push of one without a failure may be under way.
   *
   * @param domainIds Default: all.
   * @returns How many were not due before.
   */
  retry(domainIds?: readonly string[]): Awaitable<number>
  stats(): Awaitable<PendingStats>
  /** Lists by `domainId`, after the given one, at most `limit`. */
  list(after: string | undefined, limit: number): Awaitable<readonly PendingChange[]>
}

/** An {@link Outbox} with the methods that its store uses in the steps of calls. */
export interface StoreOutbox extends Outbox {
  /**
   * Records a change that is due after `wait` milliseconds; it replaces a pending one for the same ID. A release is
   * made now; a registration was made when its name was registered.
   */
  add(registration: Registration, kind: Change['kind'], wait: number): void
  /**
   * Records a transfer, which replaces a pending registration: the new registration, due at once, and the release of
   * the former one, which follows it and is due after `wait` milliseconds.
   */
  transfer(former: Registration, registration: Registration, wait: number): void
  /** Leases pending registrations, unless they are due even later. */
  lease(registrations: readonly Registration[], lease: number): void
}

/**
 * Your push to the monitor. It rejects if any of the changes failed; they are then retried in smaller parts.
 */
export interface Push {
  /** @param context `signal` aborts when the result is no longer needed. */
  (changes: readonly Change[], context: { readonly signal: AbortSignal }): Awaitable<unknown>
  /** The most changes to push at once, if the store has no `batchSize`. {@link createWebhook} sets it. */
  readonly batchSize?: number | undefined
}

/**
 * Called with each change that the monitor refused when pushed alone, and once, without a change, if a sweep ends early
 * because pushes fail. For logs: its errors and rejections are ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

/** Options of a sweep. */
export interface SweepOptions {
  /** The most changes to push: at most 1,000, the default. */
  limit?: number | undefined
  /** Called instead of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
  /** Ends the sweep: the current push is aborted, and unpushed changes are left to the next sweep. */
  signal?: AbortSignal | undefined
}

/** The result of a sweep. */
export interface SweepResult {
  /** How many changes were pushed. */
  readonly synchronized: number
  /** How many were not pushed, and will be retried. */
  readonly failed: number
  /** Set if the monitor said that it is unavailable; `retryAfter`: for how many milliseconds, if it said so. */
  readonly unavailable?: { readonly retryAfter: number | undefined }
}

/** The longest time until a change is retried, in milliseconds. */
export const LONGEST_WAIT = 3_600_000

/** Copies the public fields of a change, without the store's own. */
export const toChange = ({ kind, domainId, domain, registrableDomain, teamId, at }: Change): Change => ({
  kind,
  domainId,
  domain,
  registrableDomain,
  teamId,
  at,
})

/** Returns the change that a registration is, or its release now. */
export const changeOf = (registration: Registration, kind: Change['kind']): Change =>
  toChange({ ...registration, kind, at: kind === 'registered' ? registration.createdAt : new Date() })
