import type { Awaitable } from '../time/awaitable.ts'
import type { Change, Registration } from './store.ts'

/** A change that waits to be pushed. */
export interface WaitingChange extends Change {
  /** How often the monitor has refused it. */
  readonly refusals: number
}

/** A change to push again later. */
export interface Postponement {
  readonly change: Change
  /** Milliseconds until the change is due. */
  readonly wait: number
  /** Why the push failed; takes the place of an earlier reason. `undefined`: no push failed, and that one stays. */
  readonly failure?: string | undefined
  /** Whether one more refusal counts. */
  readonly isRefused: boolean
}

/** What waits, in numbers. */
export interface PendingStats {
  readonly count: number
  /** How many of them have failed to be pushed at least once. */
  readonly refused: number
  /** Since when the oldest of them waits; `null` if none does. */
  readonly oldest: Date | null
}

/** A change that waits, to look at. */
export interface PendingChange extends WaitingChange {
  /** When a sweep will push it, unless somebody else is pushing it now. */
  readonly nextAttempt: Date
  /** Why the last push failed, shortened: what the monitor said. `null` if none failed. */
  readonly lastFailure: string | null
}

/**
 * The changes that wait in a store to be pushed: the outbox. Each method is one atomic step. A `domainId` has at most
 * one waiting change, its registration or its release; a release replaces a registration that still waits.
 *
 * The release of a transferred registration follows the registration of the new ID. If that is itself transferred while
 * it waits, what follows it follows the next one instead.
 *
 * Each change has a time at which it is due. A lease is that time and nothing more: it lies in the future, so that
 * nobody else takes the change meanwhile. Delivery is at least once, so a lease that ends early costs a second push,
 * not more.
 */
export interface Outbox {
  /**
   * MUST lease changes that are due, at most `limit`, and return them, except releases that follow a registration which
   * still waits: first those that were never refused, then the
   * others; of each kind those that have been due the longest first. Otherwise changes that are refused again and again
   * would block newer ones. A change that is due later than an hour and a lease from now MUST count as due: it was put
   * off by a clock that has been corrected.
   *
   * @param lease In milliseconds.
   */
  take(limit: number, lease: number): Awaitable<readonly WaitingChange[]>
  /**
   * MUST forget pushed changes whose kind is still the same: nothing waits any more. If a release has replaced a pushed
   * registration meanwhile, the release stays, and is due at once.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /** MUST postpone changes whose kind is still the same, keep why their push failed, and count refusals. */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
  /**
   * MUST make changes due now that wait because a push failed, and no others: one without a failure may be on its way.
   *
   * @param domainIds Default: all.
   * @returns How many were not due before.
   */
  retry(domainIds?: readonly string[]): Awaitable<number>
  stats(): Awaitable<PendingStats>
  /** Lists by `domainId`, after the given one, at most `limit`. */
  list(after: string | undefined, limit: number): Awaitable<readonly PendingChange[]>
}

/** An {@link Outbox} with what its store does to it in the steps of calls. */
export interface StoreOutbox extends Outbox {
  /**
   * Records a change that is due after `wait` milliseconds, in place of one that still waits for the same ID. A release
   * is made now, and a registration was made when its name was registered.
   */
  add(registration: Registration, kind: Change['kind'], wait: number): void
  /**
   * Records a transfer, in place of a registration that still waits: the new registration, due at once, and the release
   * of the former one, which follows it and is due after `wait` milliseconds.
   */
  transfer(former: Registration, registration: Registration, wait: number): void
  /** Leases waiting registrations, unless they are due even later. */
  lease(registrations: readonly Registration[], lease: number): void
}

/**
 * Your push to the monitor. It rejects if any of the changes failed; they are then pushed again in smaller parts.
 */
export interface Push {
  /** @param context `signal` aborts when nobody waits for the answer any more. */
  (changes: readonly Change[], context: { readonly signal: AbortSignal }): Awaitable<unknown>
  /** The most changes to push at once, if the store has no `batchSize` of its own. {@link createWebhook} sets it. */
  readonly batchSize?: number | undefined
}

/**
 * Called with each change that the monitor refused when it was pushed alone, and once, without a change, if a sweep
 * ends early because pushes fail. For logs: what it throws or rejects with is ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

/** Options of a sweep. */
export interface SweepOptions {
  /** The most changes to push: at most 1,000, the default. */
  limit?: number | undefined
  /** Called in place of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
  /** Ends the sweep: the push that is under way is aborted, and what was not pushed waits for the next sweep. */
  signal?: AbortSignal | undefined
}

/** The result of a sweep. */
export interface SweepResult {
  /** How many changes were pushed. */
  readonly synchronized: number
  /** How many were not, and will be retried. */
  readonly failed: number
  /** Set if the monitor said that it is unavailable; `retryAfter`: for how many milliseconds, if it said that too. */
  readonly unavailable?: { readonly retryAfter: number | undefined }
}

/** The longest time until a change is pushed again, in milliseconds. */
export const LONGEST_WAIT = 3_600_000

/** Copies the public fields of a change; those of the store stay behind. */
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
