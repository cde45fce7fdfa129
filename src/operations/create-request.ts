import { findBases, isAllowed, judgeAll, judgeImports, type Verdict } from '../rules/overlap.ts'
import { NO_CALLING_TEAM, type Registration } from '../rules/registration.ts'
import type { Submitted } from '../rules/submitted.ts'
import type { ImportRequest, LookUp, RegistrationRequest } from '../store/contract.ts'

/** The limit of a team. The limit applies to all names of a call together. */
interface CallLimit {
  readonly maxDomains: number
  /** All names of the call. */
  readonly names: readonly Submitted[]
}

/** The content of a call. */
interface SubmittedCall {
  readonly teamId: string
  /** The names in the order in which they were submitted, including duplicates. */
  readonly submitted: readonly Submitted[]
  /** In milliseconds. */
  readonly timeLimit: number
  /**
   * Present if the team has a limit. In that case, `submitted` may contain only some of the call's names. These names
   * are saved only if the whole call is within the limit.
   */
  readonly limit?: CallLimit | undefined
  /** See {@link RegistrationRequest.willSave}. */
  readonly willSave?: RegistrationRequest['willSave']
}

/** Turns the names of a call into the request for the store. */
export function createRegistrationRequest(call: SubmittedCall): RegistrationRequest {
  const { teamId, submitted, timeLimit, limit, willSave } = call
  const judged = limit?.names ?? submitted
  const part = limit && new Set(submitted)
  return {
    ...createLookUp(teamId, judged, limit !== undefined),
    registrableDomains: [
      ...new Set(submitted.filter(isAllowed).map(({ registrableDomain }) => registrableDomain)),
    ].sort(),
    timeLimit,
    ...(willSave && { willSave }),
    decide(found) {
      const verdicts = judgeAll(teamId, judged, found)
      if (limit && !isWithinLimit(limit.maxDomains, found.teamCount, countCreated(verdicts))) return []
      return judged.filter((name, index) => verdicts[index]?.status === 'created' && part?.has(name) !== false)
    },
  }
}

/**
 * Creates the lookups for some names: the names themselves, every wildcard that could cover one of them, and all names
 * below submitted wildcards.
 */
export function createLookUp(teamId: string, names: readonly Submitted[], needsCount = false): LookUp {
  return {
    teamId,
    domains: distinctDomains(names),
    covered: distinctDomains(names.filter(isAllowed)),
    bases: findBases(names),
    ...(needsCount && { needsCount }),
  }
}

const distinctDomains = (names: readonly Submitted[]) => [...new Set(names.map(({ domain }) => domain))]

/*
 * The limit of a team. Stores do not know the limit: they only count registrations, and save the names that `decide`
 * returns. If the call would exceed the limit, `decide` returns no names, and the core rejects the call based on the
 * same findings.
 */

/** Returns how many names of a call are new. */
export const countCreated = (verdicts: readonly Verdict[]): number =>
  verdicts.filter(({ status }) => status === 'created').length

/**
 * Returns whether a call is within the limit of its team; `false` if the store did not count. A call that adds nothing
 * is always within the limit.
 *
 * @param added How many names the call adds.
 */
export const isWithinLimit = (maxDomains: number, teamCount: number | undefined, added: number): boolean =>
  isCount(teamCount) && (added === 0 || added <= maxDomains - teamCount)

export const isCount = (teamCount: unknown): teamCount is number => Number.isSafeInteger(teamCount)

/**
 * @param rows At most 1,000 registrations, with canonical names.
 * @param todaysDomains The registrable domains of these names according to today's suffix list. Calls lock these
 *   domains.
 */
export const createImportRequest = (
  rows: readonly Registration[],
  todaysDomains: readonly string[],
): ImportRequest => ({
  ...createLookUp(NO_CALLING_TEAM, rows),
  registrableDomains: [
    ...new Set([...todaysDomains, ...rows.map(({ registrableDomain }) => registrableDomain)]),
  ].sort(),
  domainIds: [...new Set(rows.map(({ domainId }) => domainId))],
  decide(found) {
    const verdicts = judgeImports(rows, found)
    return rows.filter((_, index) => verdicts[index] === 'imported')
  },
})
