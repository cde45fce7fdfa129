import { type Failure, type Isolated, isolate, type Progress } from '../isolate.ts'
import type { Registration } from '../rules/registration.ts'
import { trace } from '../runtime/tracing.ts'
import { createDeadline, type Deadline, runWithin, SHORTEST_TIMER } from '../time/deadline.ts'
import {
  changeOf,
  isMonitorUnavailable,
  type LeasedChange,
  type Line,
  type Outbox,
  type Postponement,
  type Push,
  type SweepResult,
  type SynchronizationErrorHandler,
  toChange,
} from './contract.ts'
import { drawFirst, hasFailedEnough, inOrder, postponeAll, readRetryAfter } from './policy.ts'
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

/** The changes of a call or a sweep. */
interface Work {
  /** The changes of a call. */
  readonly changes: readonly LeasedChange[]
  /** Takes the changes of a sweep, at most `most` at once. */
  readonly findMore?: ((most: number) => Promise<readonly LeasedChange[]>) | undefined
  /** Called after each push with the number of its changes, and whether it succeeded. */
  readonly learn?: (count: number, isAccepted: boolean) => void
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
}

/** The outcome of pushing some changes. */
interface Outcome extends Isolated<LeasedChange> {
  /** Whether each change that was not delivered was pushed alone, and no others are due. */
  readonly areAllAlone: boolean
  readonly isStopped: boolean
}

/**
 * Pushes the changes in the {@link Outbox} of a store. What becomes of each change is decided by the {@link policy}.
 *
 * Calls and sweeps push alike: {@link isolate} isolates the changes that fail, so whatever the monitor answers to one
 * change, it gets the others. A sweep takes changes only for its next push, in the order of the {@link lines}. If
 * everything fails, a call or sweep makes only a few pushes.
 *
 * A push that fails with a `Retry-After` is halved like any other, but the third such failure in a row ends the work.
 * The changes whose last push failed this way wait as long as it says.
 *
 * The process remembers only whether nothing was accepted the last time. It may forget that.
 */
export function createSynchronizer(options: SynchronizerOptions, outbox: Outbox) {
  const { push, timeLimit, batchSize = Number.POSITIVE_INFINITY, random = Math.random } = options
  const turns = createTurns(options.maxPushes ?? DEFAULT_MAX_PUSHES)
  let isUnavailable = false

  /** A process may have been frozen since the lease began, so pushing also ends when the lease does. */
  function deadlineOf(leasedAt: number): Deadline {
    const leased = leasedAt + leaseFor(timeLimit) - performance.now()
    return createDeadline(Math.min(pushingTime(timeLimit), leased))
  }

  /** Pushes changes, and postpones those that were not accepted. */
  async function pushAll(work: Work): Promise<Outcome> {
    const isTurn = await turns.enter({ ...work, teamId: work.changes[0]?.teamId })
    try {
      // Without a turn, there is no time to push anything.
      const outcome = toOutcome(work, await pushInParts(isTurn ? work : { ...work, findMore: undefined }))
      const postponements = postponeAll(outcome, timeLimit, random)
      if (postponements.length > 0) await save(postponements)
      return outcome
    } finally {
      if (isTurn) turns.leave()
    }
  }

  async function pushInParts({ changes, findMore, learn, deadline, signal }: Work): Promise<Isolated<LeasedChange>> {
    let slowest = SHORTEST_TIMER

    /** @throws A failure of the store, which ends the work, unlike a failure of the monitor. */
    async function attempt(part: readonly LeasedChange[]): Promise<Failure | null> {
      const begun = performance.now()
      const milliseconds = Math.min(timeLimit, deadline.remaining() / 2)
      const message = `The push did not end within its time limit of ${Math.ceil(milliseconds)} ms`
      try {
        await runWithin({ milliseconds, message, signal }, signal => pushOnce(push, part, signal))
      } catch (cause) {
        learn?.(part.length, false)
        return { cause }
      }
      learn?.(part.length, true)
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
      findMore,
      groupOf: ({ teamId }) => teamId,
    })
    const { hasSucceeded, failures } = result
    if (!signal?.aborted && (hasSucceeded || failures > 0)) isUnavailable = !hasSucceeded
    return result
  }

  /** The part of a sweep that decides which changes it takes. */
  function createSource(limit: number) {
    let left = limit
    let order = drawFirst(random)
    /** The line of the last push. */
    let line: Line = 'new'
    /** How many failed changes may share a push. */
    let mostFailed = 1

    async function findMore(most: number): Promise<readonly LeasedChange[]> {
      if (left === 0) return []
      const sizes = { new: most, failed: Math.min(most, mostFailed), refused: 1 }
      const taken = await outbox.take({
        lines: order.map(line => ({ line, limit: Math.min(left, sizes[line]) })),
        lease: leaseFor(timeLimit),
        lot: random(),
      })
      order = inOrder
      line = taken[0]?.line ?? line
      left -= taken.length
      return taken
    }

    function learn(count: number, isAccepted: boolean): void {
      if (line === 'failed') mostFailed = Math.max(1, isAccepted ? 2 * mostFailed : Math.floor(count / 2))
    }

    return { findMore, learn, count: () => limit - left }
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
      const changes = registrations.map(registration => ({
        ...changeOf(registration, 'registered'),
        line: 'new' as const,
        refusals: 0,
      }))
      const deadline = deadlineOf(leasedAt)
      const outcome = await pushAll({ changes, deadline, signal: undefined })
      if (outcome.unfinished.size === 0) return
      if (outcome.hasSucceeded) tell(outcome, report)
      const alone = [...outcome.unfinished.values()].find(failure => failure?.isAlone)
      throw alone?.cause ?? outcome.cause ?? new Error('There was no time to push all registrations of the call')
    },

    /** Runs one sweep: pushes the changes that are due. */
    async sweep(limit: number, report: SynchronizationErrorHandler, signal?: AbortSignal): Promise<SweepResult> {
      if (signal?.aborted) return { synchronized: 0, failed: 0 }
      return trace('sweep', async context => {
        const source = createSource(limit)
        const deadline = createDeadline(pushingTime(timeLimit))
        const outcome = await pushAll({ changes: [], ...source, deadline, signal })
        tell(outcome, report)
        const [count, failed] = [source.count(), outcome.unfinished.size]
        const result = { synchronized: count - failed, failed }
        Object.assign(context, { count, totals: { ...result } })
        const { cause, hasSucceeded, isCut, isStopped } = outcome
        const isAway = isMonitorUnavailable(cause) && !isStopped && (isCut || !hasSucceeded)
        return isAway ? { ...result, unavailable: { retryAfter: readRetryAfter(cause) } } : result
      })
    },
  }
}

function toOutcome({ signal }: Work, result: Isolated<LeasedChange>): Outcome {
  const isStopped = signal?.aborted ?? false
  const unfinished = new Map(result.unfinished)
  // The monitor has not answered the push that was aborted.
  for (const [change, failure] of unfinished)
    if (isStopped && failure?.cause === signal?.reason) unfinished.set(change, null)
  const areAllAlone = !result.isCut && [...unfinished.values()].every(failure => failure?.isAlone)
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
