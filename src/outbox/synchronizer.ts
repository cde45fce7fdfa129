import type { Registration } from '../rules/registration.ts'
import { trace } from '../runtime/tracing.ts'
import { createDeadline, type Deadline, runWithin } from '../time/deadline.ts'
import {
  changeOf,
  isMonitorUnavailable,
  type LeasedChange,
  type Outbox,
  type Postponement,
  type Push,
  type SweepResult,
  type SynchronizationErrorHandler,
  toChange,
} from './contract.ts'
import { type Failure, type Isolated, isolate, type Progress } from './isolate.ts'
import { FEW_FAILURES_IN_A_ROW, hasFailedEnough, postponeAll, readRetryAfter } from './policy.ts'
import { createTurns } from './turns.ts'

interface SynchronizerOptions {
  readonly push: Push
  /** The time limit of each push, in milliseconds. */
  readonly timeLimit: number
  /** The maximum number of changes in a push. Default: all changes of a call or a sweep. */
  readonly batchSize?: number | undefined
  /** The maximum number of pushes at once. */
  readonly maxPushes?: number | undefined
  /** Returns a number from 0 to 1 (exclusive), for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** The default maximum number of pushes at once. */
const DEFAULT_MAX_PUSHES = 20
/**
 * The time for all pushes of a call or a sweep. Each push may take half of the time that
 * remains, so a push that hangs leaves time for others.
 */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** The length of a lease, 90 seconds by default. A process must have stopped pushing before its lease expires. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The resolution of timers, in milliseconds. */
const SHORTEST_WAIT = 1
/** How many sizes a process remembers. If it forgets them, isolating a failing change takes a few more pushes. */
const MOST_SIZES = 10_000

/** The changes of a call or a sweep. */
interface Work {
  readonly changes: readonly LeasedChange[]
  /** Whether no other changes are known to be due. */
  readonly isAll: boolean
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
}

/** The outcome of pushing some changes. */
interface Outcome extends Isolated<LeasedChange> {
  /** Whether each change that was not delivered was pushed alone, and no others are known to be due. */
  readonly areAllAlone: boolean
  readonly isStopped: boolean
}

/**
 * Pushes the changes in the {@link Outbox} of a store. What becomes of each change is decided by the {@link policy}.
 *
 * Calls and sweeps push alike: in batches, in the order in which changes became due. {@link isolate} isolates the
 * changes that fail, so whatever the monitor answers to one change, it gets the others. A change that was refused is
 * pushed alone, after all others. If everything fails, a call or sweep makes only a few pushes, and the next one begins
 * with a single change.
 *
 * A failure with a `Retry-After` holds for the changes of that push, which wait as long as it says. Two in a row hold
 * for all.
 *
 * The process remembers only what it may forget: whether nothing was accepted the last time, and how many changes a
 * push with a failing change may have.
 */
export function createSynchronizer(options: SynchronizerOptions, outbox: Outbox) {
  const { push, timeLimit, batchSize = Number.POSITIVE_INFINITY, random = Math.random } = options
  const turns = createTurns(options.maxPushes ?? DEFAULT_MAX_PUSHES)
  let isUnavailable = false
  const sizes = new Map<string, number>()

  /** A process may have been frozen since the lease began, so pushing also ends when the lease does. */
  function deadlineOf(leasedAt: number): Deadline {
    const leased = leasedAt + leaseFor(timeLimit) - performance.now()
    return createDeadline(Math.min(pushingTime(timeLimit), leased))
  }

  /** Pushes changes that are leased to the caller, and postpones those that were not accepted. */
  async function pushAll(work: Work): Promise<Outcome> {
    // Without a turn, there is no time to push anything.
    const isTurn = await turns.enter(work.deadline.remaining(), work.signal)
    try {
      const outcome = toOutcome(work, await pushInParts(work))
      const postponements = postponeAll(outcome, timeLimit, random)
      if (postponements.length > 0) await save(postponements)
      return outcome
    } finally {
      if (isTurn) turns.leave()
    }
  }

  async function pushInParts({ changes, deadline, signal }: Work): Promise<Isolated<LeasedChange>> {
    let slowest = SHORTEST_WAIT

    /** @throws A failure of the store, which ends the work, unlike a failure of the monitor. */
    async function attempt(part: readonly LeasedChange[]): Promise<Failure | null> {
      const begun = performance.now()
      const milliseconds = Math.min(timeLimit, deadline.remaining() / 2)
      const message = `The push did not end within its time limit of ${Math.ceil(milliseconds)} ms`
      try {
        await runWithin({ milliseconds, message, signal }, signal => pushOnce(push, part, signal))
      } catch (cause) {
        return { cause, isPutOff: readRetryAfter(cause) !== undefined }
      }
      slowest = Math.max(slowest, performance.now() - begun)
      await outbox.finish(part)
      return null
    }

    // With less time than the slowest push took, a push might time out, and would then have to be repeated.
    const isOver = (progress: Progress) =>
      signal?.aborted || deadline.remaining() / 2 < slowest || hasFailedEnough(progress, isUnavailable)

    const result = await isolate(changes, {
      attempt,
      isOver,
      largest: batchSize,
      first: isUnavailable ? 1 : batchSize,
      sizeOf: ({ domainId, refusals }) => (refusals > 0 ? 1 : sizes.get(domainId)),
    })
    if (!signal?.aborted) remember(changes, result)
    return result
  }

  function remember(changes: readonly LeasedChange[], result: Isolated<LeasedChange>): void {
    const { hasSucceeded, failures, unfinished } = result
    if (hasSucceeded || failures > 0) isUnavailable = !hasSucceeded
    // If nothing was accepted, the failures say nothing about single changes.
    if (!hasSucceeded) return
    if (sizes.size > MOST_SIZES) sizes.clear()
    for (const change of changes) {
      const size = result.sizes.get(change)
      if (unfinished.has(change) && size !== undefined) sizes.set(change.domainId, size)
      else sizes.delete(change.domainId)
    }
  }

  /** Some databases cannot store every character. The text of a failure must not prevent its change from waiting. */
  async function save(postponements: readonly Postponement[]): Promise<void> {
    try {
      await outbox.postpone(postponements)
    } catch (error) {
      const isAscii = ({ failure = '' }: Postponement) => toAscii(failure) === failure
      if (postponements.every(isAscii)) throw error
      await outbox.postpone(postponements.map(each => ({ ...each, failure: each.failure && toAscii(each.failure) })))
    }
  }

  return {
    /**
     * Pushes the registrations of a call, which are leased to it.
     *
     * @param leasedAt When the first of these leases began, in milliseconds of the monotonic clock.
     * @param report Called with each refused change, if any other push succeeded.
     * @throws The failure of the push, if any registration was not pushed. Registrations that were pushed are still
     *   marked as synchronized.
     */
    async synchronize(
      registrations: readonly Registration[],
      leasedAt: number,
      report: SynchronizationErrorHandler,
    ): Promise<void> {
      const changes = registrations.map(registration => ({ ...changeOf(registration, 'registered'), refusals: 0 }))
      const deadline = deadlineOf(leasedAt)
      const outcome = await pushAll({ changes, deadline, isAll: true, signal: undefined })
      if (outcome.unfinished.size === 0) return
      if (outcome.hasSucceeded) tell(outcome, report)
      const alone = [...outcome.unfinished.values()].find(failure => failure?.isAlone)
      throw alone?.cause ?? outcome.cause ?? new Error('There was no time to push all registrations of the call')
    },

    /** Runs one sweep: pushes the changes that are due. */
    async sweep(limit: number, report: SynchronizationErrorHandler, signal?: AbortSignal): Promise<SweepResult> {
      if (signal?.aborted) return { synchronized: 0, failed: 0 }
      return trace('sweep', async context => {
        // A change that is taken and not pushed loses its place in the order, so a sweep that will push few takes few.
        const most = isUnavailable ? Math.min(limit, FEW_FAILURES_IN_A_ROW) : limit
        const leasedAt = performance.now()
        const changes = await outbox.take(most, leaseFor(timeLimit))
        const deadline = deadlineOf(leasedAt)
        const outcome = await pushAll({
          changes,
          deadline,
          isAll: !isUnavailable || changes.length < FEW_FAILURES_IN_A_ROW,
          signal,
        })
        tell(outcome, report)
        const failed = outcome.unfinished.size
        const result = { synchronized: changes.length - failed, failed }
        Object.assign(context, { count: changes.length, totals: { ...result } })
        const { cause, hasSucceeded, isCut, isStopped } = outcome
        const isAway = isMonitorUnavailable(cause) && !isStopped && (isCut || !hasSucceeded)
        return isAway ? { ...result, unavailable: { retryAfter: readRetryAfter(cause) } } : result
      })
    },
  }
}

function toOutcome({ isAll, signal }: Work, result: Isolated<LeasedChange>): Outcome {
  const isStopped = signal?.aborted ?? false
  const unfinished = new Map(result.unfinished)
  // The monitor has not answered the push that was aborted.
  for (const [change, failure] of unfinished)
    if (isStopped && failure?.cause === signal?.reason) unfinished.set(change, null)
  const areAllAlone = isAll && [...unfinished.values()].every(failure => failure?.isAlone)
  return { ...result, unfinished, areAllAlone, isStopped }
}

const pushOnce = (push: Push, part: readonly LeasedChange[], signal: AbortSignal) =>
  trace('push', async context => {
    context.count = part.length
    await push(part.map(toChange), { signal })
  })

const toAscii = (text: string) => text.replace(/[^ -~]/g, '?')

/**
 * Reports each change that failed alone, unless nothing was accepted and other changes still wait. If pushing ended
 * early without being stopped, also reports the reason, once.
 */
function tell(outcome: Outcome, report: SynchronizationErrorHandler): void {
  const { unfinished, cause, hasSucceeded, areAllAlone, isStopped } = outcome
  if (!areAllAlone && cause !== undefined && !isStopped) report(cause)
  if (!areAllAlone && !hasSucceeded) return
  for (const [change, failure] of unfinished) if (failure?.isAlone) report(failure.cause, toChange(change))
}
