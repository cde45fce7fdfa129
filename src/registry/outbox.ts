import { trace } from '../runtime/tracing.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline, TimeLimitError } from '../time/deadline.ts'
import { isMonitorUnavailable } from './monitor-unavailable.ts'
import type { Change, Registration } from './store.ts'

/** A change that waits to be pushed. */
export interface WaitingChange extends Change {
  /** How often the monitor has refused it; while the monitor is away, at most once. */
  readonly refusals: number
}

/** A change to try again later. */
export interface Postponement {
  readonly change: Change
  /** Milliseconds until the change is due. */
  readonly wait: number
  /** What the monitor said; then one more refusal counts. `undefined`: none does. */
  readonly refusal?: string | undefined
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
  readonly since: Date
  /** When a sweep will push it, unless somebody else is pushing it now. */
  readonly nextAttempt: Date
  /** What the monitor said at the last refusal, shortened; `null` if it never refused. */
  readonly lastFailure: string | null
}

/**
 * The changes that wait in a store to be pushed: the outbox. Each method is one atomic step. A `domainId` has at most
 * one waiting change, its registration or its release; a release replaces a registration that still waits.
 *
 * Each change has a time at which it is due. A lease is that time and nothing more: it lies in the future, so that
 * nobody else takes the change meanwhile. Delivery is at least once, so a lease that ends early costs a second push,
 * not more.
 */
export interface Outbox {
  /**
   * MUST lease changes that are due, at most `limit`, and return them: first those that were never refused, then the
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
  /** MUST postpone changes whose kind is still the same, and count refusals. */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
  stats(): Awaitable<PendingStats>
  /** Lists by `domainId`, after the given one, at most `limit`. */
  list(after: string | undefined, limit: number): Awaitable<readonly PendingChange[]>
}

/** An {@link Outbox} with what its store does to it in the steps of calls. */
export interface StoreOutbox extends Outbox {
  /** Records a change that is due after `wait` milliseconds, in place of one that still waits for the same ID. */
  add(registration: Registration, kind: Change['kind'], wait: number): void
  /** Leases waiting registrations, unless they are due even later. */
  lease(registrations: readonly Registration[], lease: number): void
}

/** Your push to the monitor. `signal` aborts when nobody waits for the answer any more. */
export type Push = (changes: readonly Change[], context: { readonly signal: AbortSignal }) => Awaitable<unknown>

/**
 * Called with each change that the monitor refused when it was pushed alone. If the monitor is away, called once a
 * sweep, without a change. For logs: what it throws or rejects with is ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

export interface SynchronizerOptions {
  readonly push: Push
  /** Milliseconds for each push. */
  readonly timeLimit: number
  /** Returns a number from 0 up to 1, for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

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
}

/** Milliseconds for each push, by default. Leases and waits follow from it. */
export const DEFAULT_PUSH_TIME_LIMIT = 30_000
/** The time for all pushes of a call or a sweep. Each push may take half of the rest, so that one can hang. */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** The length of a lease: longer than its holder may push. 90 seconds by default. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The backoff after the first failure; it doubles with each refusal. 5 seconds by default. */
const firstWait = (timeLimit: number) => timeLimit / 6
/** The longest backoff, in milliseconds. */
export const LONGEST_WAIT = 3_600_000
/** After how many failed pushes, without one that went through, the monitor counts as away. */
const MOST_FAILURES = 5
/** In milliseconds, the resolution of timers. */
const SHORTEST_WAIT = 1

/**
 * Makes the pushes of a store from its {@link Outbox}. One change that the monitor refuses delays no other: changes
 * are pushed together, and if that fails, one by one. What fails alone is tried again later and later. When five pushes
 * fail and nothing goes through, the monitor is away: all are tried again soon, after those that have not failed yet.
 */
export function createSynchronizer({ push, timeLimit, random = Math.random }: SynchronizerOptions, outbox: Outbox) {
  /** Exponential, with jitter, so that changes that failed together do not come back together. */
  const backoff = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)

  function toPostponement({ change, cause, isAlone }: Failure, isAway: boolean): Postponement {
    if (isMonitorUnavailable(cause)) {
      const wait = Math.max(firstWait(timeLimit), Number(cause.retryAfter) || 0)
      return { change, wait: Math.min(LONGEST_WAIT, wait) }
    }
    if (cause instanceof SweepStopped) return { change, wait: 0 }
    // Counted once only: it shall not wait for an hour because the monitor was away for long.
    if (isAway) {
      const refusal = change.refusals === 0 ? describeFailure(cause) : undefined
      return { change, wait: firstWait(timeLimit), refusal }
    }
    if (isAlone) return { change, wait: backoff(change.refusals), refusal: describeFailure(cause) }
    return { change, wait: firstWait(timeLimit) }
  }

  /** Pushes changes that are leased to the caller, and postpones those that failed. */
  async function pushAll(changes: readonly WaitingChange[], signal?: AbortSignal): Promise<readonly Failure[]> {
    const failures = await pushTogetherOrAlone(changes, { push, outbox, timeLimit, random, signal })
    const isAway = seemsAway(changes, failures)
    if (failures.length > 0) await outbox.postpone(failures.map(failure => toPostponement(failure, isAway)))
    return failures
  }

  return {
    /**
     * Pushes the registrations of a call, which are leased to it.
     *
     * @param report Learns what was refused, if anything else went through.
     * @throws the failure of the push, if any registration was not pushed. The others are marked all the same.
     */
    async synchronize(registrations: readonly Registration[], report: SynchronizationErrorHandler): Promise<void> {
      const changes = registrations.map(registration => ({ ...toChange(registration, 'registered'), refusals: 0 }))
      const failures = await pushAll(changes)
      const [first] = failures
      if (!first) return
      if (failures.length < changes.length) tell(failures, false, report)
      throw first.cause
    },

    /** Pushes the changes that are due: one sweep. */
    async sweep(limit: number, report: SynchronizationErrorHandler, signal?: AbortSignal): Promise<SweepResult> {
      if (signal?.aborted) return { synchronized: 0, failed: 0 }
      return trace('sweep', async context => {
        const changes = await outbox.take(limit, leaseFor(timeLimit))
        const failures = await pushAll(changes, signal)
        tell(failures, seemsAway(changes, failures), report)
        const result = { synchronized: changes.length - failures.length, failed: failures.length }
        Object.assign(context, { count: changes.length, totals: { ...result } })
        return result
      })
    },
  }
}

interface Pushing extends Pick<SynchronizerOptions, 'push' | 'timeLimit'> {
  readonly random: () => number
  readonly outbox: Outbox
  readonly signal?: AbortSignal | undefined
}

interface PushFailure {
  readonly cause: unknown
}

/** A change that could not be pushed. */
interface Failure extends PushFailure {
  readonly change: WaitingChange
  /** Whether it was pushed alone: the monitor refuses it, unless it is away. */
  readonly isAlone: boolean
}

/**
 * Whether the monitor is away: nothing went through, and not all of it was tried. A few changes that each failed alone
 * are refused as far as anybody can tell: they back off, so that what is refused for good is not pushed for ever.
 */
const seemsAway = (changes: readonly WaitingChange[], failures: readonly Failure[]): boolean =>
  failures.length === changes.length && failures.some(({ isAlone }) => !isAlone)

/** The reason why a stopped sweep did not push a change. */
class SweepStopped extends Error {}

/** Pushes changes together, and if that fails, one by one. Finishes those that were pushed, and returns the others. */
async function pushTogetherOrAlone(
  changes: readonly WaitingChange[],
  { outbox, random, ...pushing }: Pushing,
): Promise<readonly Failure[]> {
  const deadline = createDeadline(pushingTime(pushing.timeLimit))
  let pushes = 0
  let hasGoneThrough = false

  async function attempt(part: readonly WaitingChange[]): Promise<PushFailure | null> {
    pushes += 1
    try {
      await pushWithin(Math.min(pushing.timeLimit, deadline.remaining() / 2), pushing, part)
    } catch (cause) {
      return { cause: pushing.signal?.aborted ? new SweepStopped('The sweep was stopped') : cause }
    }
    // A failure of the store is no failure of the monitor: it ends the sweep.
    await outbox.finish(part)
    hasGoneThrough = true
    return null
  }

  let last = changes.length > 0 ? await attempt(changes) : null
  if (!last) return []
  const failures: Failure[] = []
  for (const change of leastRefusedFirst(changes, random)) {
    const isOver: boolean =
      isMonitorUnavailable(last.cause) ||
      last.cause instanceof SweepStopped ||
      (!hasGoneThrough && pushes >= MOST_FAILURES) ||
      deadline.remaining() < SHORTEST_WAIT
    const failure: PushFailure | null = isOver || changes.length === 1 ? last : await attempt([change])
    if (!failure) continue
    last = failure
    const isAlone = !isOver && !isMonitorUnavailable(last.cause) && !(last.cause instanceof SweepStopped)
    failures.push({ change, cause: last.cause, isAlone })
  }
  return failures
}

/**
 * At random within each number of refusals: where many are refused, the first few shall not always be the same, since
 * the monitor counts as away if none of them goes through.
 */
function leastRefusedFirst(changes: readonly WaitingChange[], random: () => number): readonly WaitingChange[] {
  const ranked = changes.map(change => ({ change, rank: random() }))
  ranked.sort((one, other) => one.change.refusals - other.change.refusals || one.rank - other.rank)
  return ranked.map(({ change }) => change)
}

/** Pushes once. The signal of the push aborts when its time is over, or when the sweep is stopped. */
async function pushWithin(
  milliseconds: number,
  { push, timeLimit, signal }: Pick<Pushing, 'push' | 'timeLimit' | 'signal'>,
  changes: readonly WaitingChange[],
): Promise<void> {
  const abort = new AbortController()
  const late = new TimeLimitError(`The push had no answer within its time limit of ${timeLimit} ms`)
  const timer = setTimeout(() => abort.abort(late), milliseconds)
  const stop = () => abort.abort(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(abort.signal.reason)
    if (abort.signal.aborted) fail()
    else abort.signal.addEventListener('abort', fail, { once: true })
  })
  const pushNow = () =>
    trace('push', async context => {
      context.count = changes.length
      await push(
        changes.map(change => toChange(change, change.kind)),
        { signal: abort.signal },
      )
    })
  try {
    await Promise.race([aborted, abort.signal.aborted ? undefined : pushNow()])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Reports each change that was refused alone. What was not pushed alone, because the monitor is away or no time was
 * left, is reported once.
 */
function tell(failures: readonly Failure[], isAway: boolean, report: SynchronizationErrorHandler): void {
  const untried = failures.find(({ isAlone, cause }) => !isAlone && !(cause instanceof SweepStopped))
  if (untried) report(untried.cause)
  if (untried && isAway) return
  for (const { change, cause, isAlone } of failures) if (isAlone) report(cause, toChange(change, change.kind))
}

const LONGEST_DESCRIPTION = 200

/** Describes a failure for whoever looks at what waits. User names and passwords in URLs are left out. */
function describeFailure(cause: unknown): string {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
  return text.replace(/\/\/[^\s/@]*@/g, '//').slice(0, LONGEST_DESCRIPTION)
}

/** Copies the public fields of a change; those of the store stay behind. */
export function toChange(
  { domainId, domain, registrableDomain, teamId }: Omit<Change, 'kind'>,
  kind: Change['kind'],
): Change {
  return { kind, domainId, domain, registrableDomain, teamId }
}
