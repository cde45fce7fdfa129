import type { FailedAttempt } from './answer.ts'
import { toWait } from './call.ts'

/** Names that are sent in one call. */
export interface Part {
  readonly names: readonly string[]
  /** Where each name is among all names, from 0, in ascending order. */
  readonly places: readonly number[]
  /** Failures in a row while no other call succeeded either. */
  readonly failures: number
  /** How often it failed although another call had succeeded since it was last sent. */
  readonly refusals: number
  /** How many calls had succeeded when it last failed, or was first sent. */
  readonly successesBefore: number
  /** When it may be sent again, by `performance.now()`. */
  readonly dueAt: number
  /** Whether its only name was already abandoned once, and is now sent for the last time. */
  readonly isLastTry: boolean
}

/** A name that fails alone this often is abandoned: the service works, but not for this name. */
const MOST_REFUSALS = 3
/**
 * While every call fails, parts are split until there are this many. Splitting isolates a name that fails, but
 * in an outage it only multiplies the calls.
 */
const MOST_PARTS_IN_OUTAGE = 16

/**
 * Decides how to retry a part that failed.
 *
 * @param successes How many calls have succeeded.
 * @param others How many other parts are waiting.
 * @returns The parts to send again; none if its only name is abandoned.
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
