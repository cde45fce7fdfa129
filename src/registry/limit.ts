import type { ApiError } from '../errors/api-error.ts'
import { domainLimitReached, internalError } from '../errors/call-errors.ts'
import { describe } from '../options.ts'
import type { Verdict } from './overlap.ts'
import type { LookUpResult } from './store.ts'

/*
 * The limit of a team. Stores do not know the limit: they only count registrations, and save the names that `decide`
 * returns. If the call would exceed the limit, `decide` returns no names, and the core rejects the call based on the
 * same findings.
 */

const countAdded = (verdicts: readonly Verdict[]) => verdicts.filter(({ status }) => status === 'created').length

/**
 * Checks a call against the limit of its team. A call that adds nothing is always within the limit.
 *
 * @param verdicts The verdicts on all names of the call.
 * @returns `null` if the call is within the limit, otherwise its error: 403 `domain_limit_reached`, or 500
 *   `internal_error` if the store did not count.
 */
export const findRefusal = (maxDomains: number, { held }: LookUpResult, verdicts: readonly Verdict[]) =>
  findExcess(maxDomains, held, countAdded(verdicts))

/** Compares the number of names that a call adds with the limit; see {@link findRefusal}. */
export function findExcess(maxDomains: number, held: number | undefined, added: number): ApiError | null {
  if (!isCount(held)) return internalError('The limit of the team could not be checked.', notCounted(held))
  return added === 0 || held + added <= maxDomains ? null : domainLimitReached({ maxDomains, held, added })
}

const isCount = (held: unknown): held is number => Number.isSafeInteger(held)

const notCounted = (held: unknown) =>
  new TypeError(
    'The team has "maxDomains", so the store must return an integer "held" if the request is "counted"; ' +
      `it is ${describe(held)}. See DomainStore`,
  )
