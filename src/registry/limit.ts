import type { ApiError } from '../errors/api-error.ts'
import { domainLimitReached, internalError } from '../errors/call-errors.ts'
import { describe } from '../options.ts'
import type { Verdict } from './overlap.ts'
import type { LookUpResult } from './store.ts'

/*
 * The limit of a team. A store knows none: it counts, and saves what `decide` returns, which is nothing where there is
 * no room. The core then judges by the same findings, and refuses the call.
 */

const countAdded = (verdicts: readonly Verdict[]) => verdicts.filter(({ status }) => status === 'created').length

/**
 * Judges a call by the limit of its team. A call that adds nothing always has room.
 *
 * @param verdicts On all names of the call.
 * @returns `null` if there is room, else the error of the call: 403 `domain_limit_reached`, or 500 `internal_error` if
 *   the store did not count.
 */
export const findRefusal = (maxDomains: number, { held }: LookUpResult, verdicts: readonly Verdict[]) =>
  findExcess(maxDomains, held, countAdded(verdicts))

/** Judges by how many names a call adds; see {@link findRefusal}. */
export function findExcess(maxDomains: number, held: number | undefined, added: number): ApiError | null {
  if (!isCount(held)) return internalError('The limit of the team could not be checked.', notCounted(held))
  return added === 0 || held + added <= maxDomains ? null : domainLimitReached({ maxDomains, held, added })
}

const isCount = (held: unknown): held is number => Number.isSafeInteger(held)

const notCounted = (held: unknown) =>
  new TypeError(
    'The team has "maxDomains", so the store must answer a request that is "counted" with "held", an integer; ' +
      `it is ${describe(held)}. See DomainStore`,
  )
