import { type CallFailure, toWait } from './call.ts'
import type { Part, PartOutcome } from './send-part.ts'

/** While this many parts wait, no new names are sent. This limits the memory in use. */
const MOST_PARTS_WAITING = 200
/** A name that fails alone this many times is abandoned: the service works, but not for this name. */
const MOST_OWN_FAILURES = 3
/**
 * While every call fails, parts are split only until there are this many. Splitting would isolate a single name that
 * fails, but in an outage it would only cause more calls.
 */
const MOST_PARTS_IN_OUTAGE = 16
const ABANDONED = Number.POSITIVE_INFINITY

/**
 * Keeps the parts that failed until they may be sent again, and decides when to give up.
 *
 * @param patience Milliseconds for which all calls may fail before the client gives up.
 */
export function createRetries({ concurrency, patience }: { concurrency: number; patience: number }) {
  /** In the order in which they are due. */
  let waiting: readonly Part[] = []
  /** Names that failed again after all others had a result. */
  const abandoned: Part[] = []
  let successes = 0
  let failuresInARow = 0
  let failingSince: number | undefined
  let lastFailure: CallFailure | undefined
  let end: CallFailure | undefined

  function retryLater(part: Part, failure: CallFailure): void {
    lastFailure = failure
    if (part.dueAt === ABANDONED) return void abandoned.push(part)
    const isOfService = failure.code === 'domain_registration_unavailable' || failure.code === 'internal_error'
    const isOwnFailure = isOfService && successes > part.successesBefore
    const ownFailures = part.ownFailures + (isOwnFailure ? 1 : 0)
    const failures = isOwnFailure ? 1 : part.failures + 1
    const isAbandoned = part.names.length === 1 && ownFailures >= MOST_OWN_FAILURES
    const dueAt = isAbandoned ? ABANDONED : performance.now() + toWait(failures, failure.retryAfter)
    const again = { ...part, failures, ownFailures, successesBefore: successes, dueAt }
    const isSplit = isOfService && part.dueAt > 0 && (isOwnFailure || waiting.length < MOST_PARTS_IN_OUTAGE)
    const parts = isSplit && part.names.length > 1 ? split(again) : [again]
    waiting = [...waiting, ...parts].sort((one, other) => (one.dueAt < other.dueAt ? -1 : 1))
  }

  return {
    /** Takes account of a call that has ended. */
    settle(part: Part, { results, left, failure }: PartOutcome): void {
      const now = performance.now()
      if (results.length > 0) {
        successes += 1
        failuresInARow = 0
        failingSince = undefined
      } else if (failure) {
        failuresInARow += 1
        failingSince ??= now
        if (!failure.mayPass || now - failingSince >= patience) end ??= failure
      }
      if (failure) retryLater(left ?? part, failure)
    },
    /** The failure that ends the work at once. */
    end: () => end,
    /** Whether new names may be sent. If the latest calls have all failed, only waiting parts may be sent. */
    mayTakeNew(): boolean {
      const count = waiting.findLastIndex(({ dueAt }) => dueAt < ABANDONED) + 1
      return count === 0 || (failuresInARow < concurrency && count < MOST_PARTS_WAITING)
    },
    markNew: (part: Part): Part => ({ ...part, successesBefore: successes }),
    /** Removes and returns a part that is due. If nothing else is left, that may be an abandoned name. */
    take(isLast: boolean): Part | undefined {
      const [first, ...others] = waiting
      if (!first || (first.dueAt > performance.now() && !(isLast && first.dueAt === ABANDONED))) return undefined
      waiting = others
      return first
    },
    untilDue: () => (waiting[0]?.dueAt ?? ABANDONED) - performance.now(),
    isEmpty: () => waiting.length === 0,
    /** All parts that have no result. */
    parts: () => [...waiting, ...abandoned],
    /** Why the work cannot go on: names were abandoned, or the next retry would come too late. */
    whyStuck(): CallFailure | undefined {
      if (waiting.length === 0) return abandoned.length > 0 ? lastFailure : undefined
      const { dueAt = ABANDONED } = waiting[0] ?? {}
      return dueAt < ABANDONED && dueAt > (failingSince ?? performance.now()) + patience ? lastFailure : undefined
    },
  }
}

function split(part: Part): readonly Part[] {
  const middle = Math.ceil(part.names.length / 2)
  return [
    { ...part, names: part.names.slice(0, middle), places: part.places.slice(0, middle) },
    { ...part, names: part.names.slice(middle), places: part.places.slice(middle) },
  ]
}
