import type { ApiError } from '../errors/api-error.ts'
import { domainLimitReached, internalError } from '../errors/call-errors.ts'
import { describe } from '../options.ts'
import { isCount, isWithinLimit } from './create-request.ts'

/**
 * Returns how many more names a team may have; below 0 if it has more than its limit.
 *
 * @throws {ApiError} 500 `internal_error` if the store did not count.
 */
export function toRoom(maxDomains: number, teamCount: number | undefined): number {
  if (isCount(teamCount)) return maxDomains - teamCount
  throw notCounted(teamCount)
}

/**
 * Returns the error of a call that is not within the limit of its team; see {@link isWithinLimit}. `null` for any other
 * call.
 */
export function findLimitError(maxDomains: number, teamCount: number | undefined, added: number): ApiError | null {
  if (isWithinLimit(maxDomains, teamCount, added)) return null
  return isCount(teamCount) ? domainLimitReached({ maxDomains, teamCount, added }) : notCounted(teamCount)
}

function notCounted(teamCount: unknown): ApiError {
  const cause = new TypeError(
    'The team has "maxDomains", so the store must return an integer "teamCount" if the request has "needsCount"; ' +
      `it is ${describe(teamCount)}. See DomainStore`,
  )
  return internalError('The limit of the team could not be checked.', cause)
}
