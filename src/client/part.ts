import type { FailedAttempt } from './answer.ts'
import { toWait } from './call.ts'

/** Names that are sent in one call. */
export interface Part {
  readonly names: readonly string[]
  /** The position of each name among all names, starting at 0, in ascending order. */
  readonly places: readonly number[]
  /** How many times in a row the part has failed while no other call succeeded. */
  readonly failures: number
  /**
   * How many times the part has failed although another call had succeeded since the part's previous failure, so the
   * service worked.
   */
  readonly refusals: number
  /** How many calls had succeeded when the part last failed or, if it has never failed, when it was first sent. */
  readonly successesBefore: number
  /** When the part may be sent again, as a time of `performance.now()`. */
  readonly dueAt: number
  /** Whether the part's only name was abandoned before, and is now sent for the last time. */
  readonly isLastTry: boolean
}

/** A name that fails alone this many times is abandoned: the service works, but not for this name. */
const MOST_REFUSALS = 3
/**
 * While every call fails, parts are split only until there are this many. Splitting would isolate a single name that
 * fails, but in an outage it would only cause more calls.
 */
const MOST_PARTS_IN_OUTAGE = 16

/**
 * Decides how to retry a part that failed.
 *
 * @param successes The number of calls that have succeeded.
 * @param others The number of other parts that are waiting.
 * @returns The parts to send again, or none if the failed part's only name is abandoned.
 */
export function afterFailure(
  part: Part,
  failure: FailedAttempt,
  { successes, others }: { readonly successes: number; readonly others: number },
): readonly Part[] {
  const isOfService = failure.code === 'domain_registration_unavailable' || failure.code === 'internal_error'
  const isRefusal = isOfService && successes > part.successesBefore
  const refusals = part.refusals + (isRefusal ? 1 : 0)
  if (part.isLastTry || (part.names.length === 1 && refusals >= MOST_REFUSALS)) return []
  const isFirst = part.dueAt === 0
  const failures = isRefusal ? 1 : part.failures + 1
  const dueAt = performance.now() + toWait(failures, failure.retryAfter)
  const again = { ...part, failures, refusals, successesBefore: successes, dueAt }
  const isSplit = isOfService && !isFirst && (isRefusal || others < MOST_PARTS_IN_OUTAGE)
  return isSplit && part.names.length > 1 ? split(again) : [again]
}

function split(part: Part): readonly Part[] {
  const middle = Math.ceil(part.names.length / 2)
  return [
    { ...part, names: part.names.slice(0, middle), places: part.places.slice(0, middle) },
    { ...part, names: part.names.slice(middle), places: part.places.slice(middle) },
  ]
}
