import { describeReason } from '../errors/failure-log.ts'
import type { Registration } from '../rules/registration.ts'
import { trace } from '../runtime/tracing.ts'
import { createDeadline, type Deadline, runWithin, TimeLimitError } from '../time/deadline.ts'
import {
  changeOf,
  isMonitorUnavailable,
  type LeasedChange,
  LONGEST_WAIT,
  type Outbox,
  type Postponement,
  type Push,
  type SweepResult,
  type SynchronizationErrorHandler,
  toChange,
} from './contract.ts'
import { type Failure, type Isolated, type ItemFailure, isolate, type Progress } from './isolate.ts'
import { type Answer, findRow } from './policy.ts'

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

/** The default time limit of each push, in milliseconds. Leases and backoff depend on it. */
export const DEFAULT_PUSH_TIME_LIMIT = 30_000
/** The default maximum number of pushes at once. */
const DEFAULT_MAX_PUSHES = 20
/**
 * The time for all pushes of a call or a sweep. Each push may take half of the time that
 * remains, so a push that hangs leaves time for others.
 */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** The length of a lease, 90 seconds by default. A process must have stopped pushing before its lease expires. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The first wait, 5 seconds by default. The backoff doubles with each refusal. */
const firstWait = (timeLimit: number) => timeLimit / 6
/** After this many consecutive failures, a call or a sweep pushes nothing more. */
const MOST_FAILURES_IN_A_ROW = 8
/**
 * The same, if nothing was accepted the last time, or if something was accepted, and then the monitor says that it is
 * unavailable: it may have had enough.
 */
const FEW_FAILURES_IN_A_ROW = 3
/** After this many consecutive failures with a `Retry-After`, all changes wait, not only those that were pushed. */
const MOST_PUT_OFF_IN_A_ROW = 2
/** After this many failures, a call or a sweep leaves the remaining changes to the next sweep. */
const MOST_FAILURES = 100
/** The resolution of timers, in milliseconds. */
const SHORTEST_WAIT = 1
/** How many sizes a process remembers. If it forgets them, isolating a failing change takes a few more pushes. */
const MOST_SIZES = 10_000

/** The changes of a call or a sweep. */
interface Work {
  readonly changes: readonly LeasedChange[]
  /** Whether no other changes are due. */
  readonly isAll: boolean
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
}

/** The outcome of pushing some changes. */
interface Outcome extends Isolated<LeasedChange> {
  /** Whether pushing ended before each change was pushed. */
  readonly isEarly: boolean
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

  /** The wait is exponential, with jitter, so changes that failed together are not retried together. */
  const backoff = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)

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
      return await postpone(work, await pushInParts(work))
    } finally {
      if (isTurn) turns.leave()
    }
  }

  async function pushInParts({ changes, deadline, signal }: Work): Promise<Isolated<LeasedChange>> {
    let slowest = SHORTEST_WAIT
    let putOffInARow = 0

    /** @throws A failure of the store, which ends the work, unlike a failure of the monitor. */
    async function attempt(part: readonly LeasedChange[]): Promise<Failure | null> {
      const begun = performance.now()
      const milliseconds = Math.min(timeLimit, deadline.remaining() / 2)
      const message = `The push did not end within its time limit of ${Math.ceil(milliseconds)} ms`
      try {
        await runWithin({ milliseconds, message, signal }, signal => pushOnce(push, part, signal))
      } catch (cause) {
        const isPutOff = readRetryAfter(cause) !== undefined
        putOffInARow = isPutOff ? putOffInARow + 1 : 0
        return { cause, isPutOff }
      }
      slowest = Math.max(slowest, performance.now() - begun)
      putOffInARow = 0
      await outbox.finish(part)
      return null
    }

    function isOver({ failures, failuresInARow, hasSucceeded, cause }: Progress): boolean {
      // With less time than the slowest push took, a push might time out, and would then have to be repeated.
      if (signal?.aborted || deadline.remaining() / 2 < slowest) return true
      if (isUnavailable) return failuresInARow >= FEW_FAILURES_IN_A_ROW
      const mostInARow = hasSucceeded && !isDenial(cause) ? FEW_FAILURES_IN_A_ROW : MOST_FAILURES_IN_A_ROW
      return putOffInARow >= MOST_PUT_OFF_IN_A_ROW || failuresInARow >= mostInARow || failures >= MOST_FAILURES
    }

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

  async function postpone({ isAll, signal }: Work, result: Isolated<LeasedChange>): Promise<Outcome> {
    const isStopped = signal?.aborted ?? false
    const unfinished = new Map(result.unfinished)
    // The monitor has not answered the push that was aborted.
    for (const [change, failure] of unfinished)
      if (isStopped && failure?.cause === signal?.reason) unfinished.set(change, null)
    const areAllAlone = isAll && [...unfinished.values()].every(failure => failure?.isAlone)
    const waits = { never: 0, 'at once': 0, 'after the first wait': firstWait(timeLimit) }
    const postponements = [...unfinished].map(([change, failure]): Postponement => {
      const answer = toAnswer(failure)
      // If each change was pushed alone, no other change waits for the monitor.
      const accepts = result.hasSucceeded || (areAllAlone && answer === 'denied alone')
      const { becomes, due } = findRow(answer, accepts, change.refusals)
      const wait = due === 'after the backoff' ? backoff(change.refusals) : waits[due]
      return {
        change,
        wait: Math.max(wait, readRetryAfter(failure?.cause) ?? 0),
        failure: failure ? describeReason(failure.cause) : undefined,
        refusals: change.refusals + Number(becomes === 'refused'),
      }
    })
    if (postponements.length > 0) await record(postponements)
    return { ...result, unfinished, isEarly: !areAllAlone, isStopped }
  }

  /** Some databases cannot store every character. The text of a failure must not prevent its change from waiting. */
  async function record(postponements: readonly Postponement[]): Promise<void> {
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

/** Whether a failure says that a change is at fault, and not that the monitor is unavailable. */
const isDenial = (cause: unknown) => !isMonitorUnavailable(cause) && !(cause instanceof TimeLimitError)

/** The answer in the {@link policy}, of a change that was not accepted. */
function toAnswer(failure: ItemFailure | null): Answer {
  if (!failure) return 'not pushed'
  if (!failure.isAlone) return 'failed with others'
  return isDenial(failure.cause) ? 'denied alone' : 'unavailable alone'
}

/** Lets at most `most` calls and sweeps push at once. The others wait in line. */
function createTurns(most: number) {
  let free = most
  const waiting: (() => void)[] = []
  return {
    /** Resolves to whether the turn came within the time, and before `signal` was aborted. */
    enter(milliseconds: number, signal: AbortSignal | undefined): boolean | Promise<boolean> {
      if (free > 0) {
        free -= 1
        return true
      }
      return new Promise(resolve => {
        const settle = (isTurn: boolean) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', leave)
          resolve(isTurn)
        }
        const enter = () => settle(true)
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1)
          settle(false)
        }
        const timer = setTimeout(leave, milliseconds)
        signal?.addEventListener('abort', leave, { once: true })
        waiting.push(enter)
      })
    },
    leave(): void {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    },
  }
}

const pushOnce = (push: Push, part: readonly LeasedChange[], signal: AbortSignal) =>
  trace('push', async context => {
    context.count = part.length
    await push(part.map(toChange), { signal })
  })

const toAscii = (text: string) => text.replace(/[^ -~]/g, '?')

/** @returns After how many milliseconds the monitor wants a retry, but at most an hour. */
function readRetryAfter(cause: unknown): number | undefined {
  const retryAfter = isMonitorUnavailable(cause) ? cause.retryAfter : undefined
  return typeof retryAfter === 'number' && retryAfter >= 0 ? Math.min(LONGEST_WAIT, retryAfter) : undefined
}

/**
 * Reports each change that failed alone, unless nothing was accepted and other changes still wait. If pushing ended
 * early without being stopped, also reports the reason, once.
 */
function tell(outcome: Outcome, report: SynchronizationErrorHandler): void {
  const { unfinished, cause, hasSucceeded, isEarly, isStopped } = outcome
  if (isEarly && cause !== undefined && !isStopped) report(cause)
  if (isEarly && !hasSucceeded) return
  for (const [change, failure] of unfinished) if (failure?.isAlone) report(failure.cause, toChange(change))
}
