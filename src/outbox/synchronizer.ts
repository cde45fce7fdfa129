import { describeReason } from '../errors/failure-log.ts'
import type { Registration } from '../rules/registration.ts'
import { trace } from '../runtime/tracing.ts'
import { createDeadline } from '../time/deadline.ts'
import { runWithin } from '../time/run-within.ts'
import {
  changeOf,
  LONGEST_WAIT,
  type Outbox,
  type Postponement,
  type Push,
  type SweepResult,
  type SynchronizationErrorHandler,
  toChange,
  type WaitingChange,
} from './contract.ts'
import { type HalvingProgress, mostFailuresInARow, type Unfinished, workByHalves } from './halving.ts'
import { isMonitorUnavailable } from './monitor-unavailable.ts'

export interface SynchronizerOptions {
  readonly push: Push
  /** The time limit of each push, in milliseconds. */
  readonly timeLimit: number
  /** The maximum number of changes in a push. Default: all changes of a call or a sweep. */
  readonly batchSize?: number | undefined
  /** Returns a number from 0 to 1 (exclusive), for the order of pushes and for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** The default time limit of each push, in milliseconds. Leases and backoff depend on it. */
export const DEFAULT_PUSH_TIME_LIMIT = 30_000
/**
 * The time for all pushes of a call or a sweep. Each push may take half of the time that remains, so a push that hangs
 * leaves time for others.
 */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** The length of a lease, 90 seconds by default. A process must have stopped pushing before its lease expires. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The backoff after the first failure, 5 seconds by default. The backoff doubles with each refusal. */
const firstWait = (timeLimit: number) => timeLimit / 6
/** After this many consecutive failures, or more if batches are large, the monitor counts as unavailable. */
const LEAST_FAILURES_IN_A_ROW = 7
/**
 * After this many failures, a sweep leaves the remaining changes to the next sweep. Failures of new changes are counted
 * separately from failures of changes that were refused before.
 */
const MOST_FAILURES = 100
/** The resolution of timers, in milliseconds. */
const SHORTEST_WAIT = 1

/** The outcome of pushing some changes. */
interface PushOutcome {
  readonly hasSucceeded: boolean
  /** Changes that the monitor refused when pushed alone. */
  readonly refused: readonly { readonly change: WaitingChange; readonly cause: unknown }[]
  /** Changes that were not pushed, or that failed only together with other changes. */
  readonly left: readonly WaitingChange[]
  /** All changes that were part of a failed push, including those that succeeded later. */
  readonly suspects: ReadonlySet<WaitingChange>
  /** The last failure, if any. */
  readonly cause: unknown
  /**
   * Set if pushing ended early because the monitor reported that it is unavailable, or because the sweep was stopped.
   */
  readonly endedBy: 'unavailable' | 'stop' | undefined
}

/**
 * Pushes the changes in the {@link Outbox} of a store.
 *
 * Changes are pushed in batches, in random order. When a batch succeeds, its changes are removed from the outbox at
 * once. {@link workByHalves} isolates the changes that are refused. Later sweeps push refused changes last. A change
 * that was refused more than once is pushed alone. A change that was refused only once is still pushed together with
 * others, because an outage may have caused the refusal. If nothing seems to succeed, or the monitor reports that it is
 * unavailable, the remaining changes are left for later. A report that does not say when to retry counts only if two
 * come in a row, because a gateway may send such a report in response to a single bad change.
 */
export function createSynchronizer(options: SynchronizerOptions, outbox: Outbox) {
  const { timeLimit, random = Math.random } = options

  /** The wait is exponential, with jitter, so changes that failed together are not retried together. */
  const backoff = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)

  function waitOfLeft({ hasSucceeded, endedBy, cause }: PushOutcome): number {
    if (endedBy === 'stop') return 0
    const retryAfter = readRetryAfter(cause)
    if (hasSucceeded && endedBy !== 'unavailable') return 0
    if (hasSucceeded && retryAfter !== undefined) return retryAfter
    return Math.max(firstWait(timeLimit), retryAfter ?? 0)
  }

  function toPostponements(outcome: PushOutcome): Postponement[] {
    const wait = waitOfLeft(outcome)
    const failure = wait > 0 ? describeReason(outcome.cause) : undefined
    // While no push succeeds, only the first refusal of a change counts. So new changes still come first, and waits do
    // not grow to an hour during an outage.
    const isFirst = (change: WaitingChange) => isAway(outcome) && change.refusals === 0
    const mayBeRefused = outcome.endedBy === undefined && !isMonitorUnavailable(outcome.cause)
    const left = outcome.left.map(change => {
      const isRefused = mayBeRefused && isFirst(change) && outcome.suspects.has(change)
      return { change, wait, failure, isRefused }
    })
    const refused = outcome.refused.map(({ change, cause }) => {
      const failure = describeReason(cause)
      if (isAway(outcome)) return { change, wait, failure, isRefused: isFirst(change) }
      return { change, wait: backoff(change.refusals), failure, isRefused: true }
    })
    return [...left, ...refused]
  }

  /** Pushes changes that are leased to the caller, and postpones those that failed. */
  async function pushAll(changes: readonly WaitingChange[], signal?: AbortSignal): Promise<PushOutcome> {
    const outcome = await pushInBatches(changes, { ...options, random, outbox, signal })
    const postponements = toPostponements(outcome)
    if (postponements.length > 0) await outbox.postpone(postponements)
    return outcome
  }

  return {
    /**
     * Pushes the registrations of a call, which are leased to it.
     *
     * @param report Called with each refused change, if any other push succeeded.
     * @throws The failure of the push, if any registration was not pushed. Registrations that were pushed are still
     *   marked as synchronized.
     */
    async synchronize(registrations: readonly Registration[], report: SynchronizationErrorHandler): Promise<void> {
      const changes = registrations.map(registration => ({ ...changeOf(registration, 'registered'), refusals: 0 }))
      const outcome = await pushAll(changes)
      const { refused, left, cause, hasSucceeded } = outcome
      if (refused.length + left.length === 0) return
      if (hasSucceeded) tell(outcome, report)
      throw refused[0]?.cause ?? cause ?? new Error('There was no time to push all registrations of the call')
    },

    /** Runs one sweep: pushes the changes that are due. */
    async sweep(limit: number, report: SynchronizationErrorHandler, signal?: AbortSignal): Promise<SweepResult> {
      if (signal?.aborted) return { synchronized: 0, failed: 0 }
      return trace('sweep', async context => {
        const changes = await outbox.take(limit, leaseFor(timeLimit))
        const outcome = await pushAll(changes, signal)
        tell(outcome, report)
        const failed = outcome.refused.length + outcome.left.length
        const result = { synchronized: changes.length - failed, failed }
        Object.assign(context, { count: changes.length, totals: { ...result } })
        const retryAfter = readRetryAfter(outcome.cause)
        return outcome.endedBy === 'unavailable' ? { ...result, unavailable: { retryAfter } } : result
      })
    },
  }
}

/** Whether the monitor seems unavailable: no push succeeded, and some changes were never pushed alone. */
const isAway = ({ hasSucceeded, left }: PushOutcome): boolean => !hasSucceeded && left.length > 0

interface Pushing extends SynchronizerOptions {
  readonly random: () => number
  readonly outbox: Outbox
  readonly signal: AbortSignal | undefined
}

/**
 * Pushes changes in batches, and removes the delivered ones from the outbox. Changes that were refused before come
 * last.
 */
async function pushInBatches(changes: readonly WaitingChange[], pushing: Pushing): Promise<PushOutcome> {
  const { batchSize = Number.POSITIVE_INFINITY, random, signal } = pushing
  const { attempt, hasTime, isUnavailable } = createAttempts(pushing)
  const mostInARow = Math.max(LEAST_FAILURES_IN_A_ROW, mostFailuresInARow(Math.min(batchSize, changes.length)))
  const isOver = ({ failures, failuresInARow }: HalvingProgress) =>
    signal?.aborted || isUnavailable() || !hasTime() || failuresInARow >= mostInARow || failures >= MOST_FAILURES

  const [fresh, once, often] = [0, 1, 2].map(count => changes.filter(change => Math.min(change.refusals, 2) === count))
  const ofFresh = await workByHalves(shuffle(toBatches(fresh, batchSize), random), { attempt, isOver, random })
  // A single refusal may have been caused by an outage. Changes that were refused only once may therefore succeed now,
  // so they are pushed together.
  const parts = [...toBatches(shuffle(once, random), batchSize), ...toBatches(often, 1)]
  const options = { attempt, isOver, random, first: 1, start: { ...ofFresh, failures: 0 } }
  const ofBefore = await workByHalves(shuffle(parts, random), options)
  const endedBy = signal?.aborted ? 'stop' : isUnavailable() ? 'unavailable' : undefined
  return toOutcome(ofFresh, ofBefore, endedBy)
}

/** A change that failed alone does not count as refused if the monitor was unavailable, or if the sweep was stopped. */
function toOutcome(
  ofFresh: Unfinished<WaitingChange>,
  { hasSucceeded, cause, ...ofBefore }: Unfinished<WaitingChange>,
  endedBy: PushOutcome['endedBy'],
): PushOutcome {
  const isRefusal = (failure: unknown) => {
    if (failure === cause && endedBy === 'stop') return false
    return !isMonitorUnavailable(failure) || (hasSucceeded && endedBy === undefined)
  }
  const alone = [...ofFresh.alone, ...ofBefore.alone].map(({ item, cause }) => ({ change: item, cause }))
  const notRefused = alone.filter(({ cause }) => !isRefusal(cause)).map(({ change }) => change)
  return {
    hasSucceeded,
    refused: alone.filter(({ cause }) => isRefusal(cause)),
    left: [...notRefused, ...ofFresh.left, ...ofBefore.left],
    suspects: new Set([...ofFresh.suspects, ...ofBefore.suspects]),
    cause,
    endedBy,
  }
}

/** Pushes parts within the time of a call or a sweep, and removes the delivered changes from the outbox. */
function createAttempts({ push, timeLimit, outbox, signal }: Pushing) {
  const deadline = createDeadline(pushingTime(timeLimit))
  let slowest = SHORTEST_WAIT
  /** How many times in a row the monitor has reported that it is unavailable. */
  let unavailableInARow = 0
  /** For how many milliseconds the monitor will be unavailable, if the last failure says so. */
  let retryAfter: number | undefined

  return {
    /** @throws A failure of the store, which ends the sweep, unlike a failure of the monitor. */
    async attempt(part: readonly WaitingChange[]) {
      const begun = performance.now()
      const milliseconds = Math.min(timeLimit, deadline.remaining() / 2)
      const message = `The push did not end within its time limit of ${timeLimit} ms`
      try {
        await runWithin({ milliseconds, message, signal }, signal => pushOnce(push, part, signal))
      } catch (cause) {
        unavailableInARow = isMonitorUnavailable(cause) ? unavailableInARow + 1 : 0
        retryAfter = readRetryAfter(cause)
        return { cause }
      }
      slowest = Math.max(slowest, performance.now() - begun)
      unavailableInARow = 0
      await outbox.finish(part)
      return null
    },
    /**
     * Whether there is time for a push that takes as long as the slowest one so far. With less time, the push might
     * time out, and would then have to be repeated.
     */
    hasTime: () => deadline.remaining() / 2 >= slowest,
    isUnavailable: () => unavailableInARow >= 2 || retryAfter !== undefined,
  }
}

const pushOnce = (push: Push, part: readonly WaitingChange[], signal: AbortSignal) =>
  trace('push', async context => {
    context.count = part.length
    await push(part.map(toChange), { signal })
  })

function toBatches<Item>(items: readonly Item[] = [], size: number): (readonly Item[])[] {
  const batches: (readonly Item[])[] = []
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size))
  return batches
}

/**
 * Shuffles the changes, so that a change that makes the monitor fail does not always come first and delay the others.
 */
function shuffle<Item>(items: readonly Item[] = [], random: () => number): readonly Item[] {
  const ranked = items.map(item => ({ item, rank: random() }))
  return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item)
}

/** @returns After how many milliseconds the monitor wants a retry, but at most an hour. */
function readRetryAfter(cause: unknown): number | undefined {
  const retryAfter = isMonitorUnavailable(cause) ? cause.retryAfter : undefined
  return typeof retryAfter === 'number' && retryAfter >= 0 ? Math.min(LONGEST_WAIT, retryAfter) : undefined
}

/**
 * Reports each refused change, unless the monitor seems unavailable. If the sweep ended early without being stopped,
 * also reports the reason, once.
 */
function tell(outcome: PushOutcome, report: SynchronizationErrorHandler): void {
  const { refused, left, cause, endedBy } = outcome
  if (left.length > 0 && cause !== undefined && endedBy !== 'stop') report(cause)
  if (isAway(outcome)) return
  for (const { change, cause } of refused) report(cause, toChange(change))
}
