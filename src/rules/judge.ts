import type { ApiError } from '../errors/api-error.ts'
import { domainLimitReached, internalError } from '../errors/call-errors.ts'
import { describe } from '../options.ts'
import { ancestorsOf, baseOf, isWildcard, type Name, wildcardOver } from './name.ts'
import {
  addBelow,
  type ConflictCode,
  covers,
  type Held,
  type Holdings,
  isParted,
  judge,
  type Verdict,
} from './overlap.ts'
import type {
  ImportFindings,
  ImportRequest,
  LookUp,
  LookUpResult,
  NamesBelow,
  Registration,
  RegistrationRequest,
} from './registration.ts'
import type { Submitted } from './submitted.ts'

/** The limit of a team. The limit applies to all names of a call together. */
export interface CallLimit {
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
      if (limit && findLimitError(limit.maxDomains, found, verdicts)) return []
      return judged.filter((name, index) => verdicts[index]?.status === 'created' && part?.has(name) !== false)
    },
  }
}

/**
 * Whether today's list and the application allow a name. Any other name is looked up, but cannot be created, so it
 * needs neither a lock nor an overlap check.
 */
const isAllowed = ({ rejection, answer }: Submitted) => rejection === undefined && typeof answer !== 'object'

/**
 * Creates the lookups for some names: the names themselves, every wildcard that could cover one of them, and all names
 * below submitted wildcards.
 */
export function createLookUp(teamId: string, names: readonly Submitted[], counted = false): LookUp {
  const domains = new Set<string>()
  for (const name of names) {
    const { domain } = name
    domains.add(domain)
    if (!isAllowed(name)) continue
    for (const base of ancestorsOf(domain)) domains.add(wildcardOver(base))
  }
  return { teamId, domains: [...domains], bases: findBases(names), ...(counted && { counted }) }
}

/**
 * Judges names one after another, as if the earlier ones were already registered.
 *
 * @param found The store's findings for the request with these names.
 * @returns One verdict for each name, in the same order.
 */
export function judgeAll(teamId: string, submitted: readonly Submitted[], found: LookUpResult): readonly Verdict[] {
  const holdings = createHoldings(teamId, findBases(submitted), found)
  return submitted.map(name => {
    const verdict = judge(name, teamId, holdings)
    if (verdict.status === 'created') holdings.add(name, teamId)
    return verdict
  })
}

export const findBases = (names: readonly Submitted[]): string[] => [
  ...new Set(names.filter(name => isAllowed(name) && isWildcard(name.domain)).map(({ domain }) => baseOf(domain))),
]

interface GrowingHoldings extends Holdings {
  /** Adds a name that a team registers in this call. */
  add(name: Name, owner: string): void
}

/** @param teamId The calling team. */
export function createHoldings(teamId: string, bases: readonly string[], found: LookUpResult): GrowingHoldings {
  const owners = new Map(found.registrations.map(({ domain, teamId: owner }) => [domain, owner]))
  const wildcards = new Map<string, Held>(
    found.registrations.filter(({ domain }) => isWildcard(domain)).map(held => [baseOf(held.domain), held]),
  )
  const belowBases = new Map(bases.map((base, index) => [base, requireBelow(found.below[index])]))

  return {
    ownerOf: domain => owners.get(domain),

    wildcardsAbove({ domain }) {
      if (wildcards.size === 0) return []
      return ancestorsOf(domain).flatMap(base => wildcards.get(base) ?? [])
    },

    below: ({ domain }) => requireBelow(belowBases.get(baseOf(domain))),

    add(name, owner) {
      const held = { domain: name.domain, teamId: owner }
      owners.set(held.domain, owner)
      if (isWildcard(held.domain)) wildcards.set(baseOf(held.domain), held)
      if (belowBases.size === 0) return
      for (const base of ancestorsOf(held.domain)) {
        const below = belowBases.get(base)
        if (below && !isParted(name, base)) belowBases.set(base, addBelow(below, held, teamId))
      }
    },
  }
}

function requireBelow(below: NamesBelow | undefined): NamesBelow {
  if (!below) throw new TypeError('The store must return one entry of "below" for each base')
  return below
}

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
export const findLimitError = (maxDomains: number, { held }: LookUpResult, verdicts: readonly Verdict[]) =>
  toLimitError(maxDomains, held, countAdded(verdicts))

/** Compares the number of names that a call adds with the limit; see {@link findLimitError}. */
export function toLimitError(maxDomains: number, held: number | undefined, added: number): ApiError | null {
  if (!isCount(held)) return internalError('The limit of the team could not be checked.', notCounted(held))
  return added === 0 || held + added <= maxDomains ? null : domainLimitReached({ maxDomains, held, added })
}

const isCount = (held: unknown): held is number => Number.isSafeInteger(held)

const notCounted = (held: unknown) =>
  new TypeError(
    'The team has "maxDomains", so the store must return an integer "held" if the request is "counted"; ' +
      `it is ${describe(held)}. See DomainStore`,
  )

/** Why a registration cannot be imported: it conflicts with registrations in the store. */
export type ImportConflict = ConflictCode | 'id_is_taken' | 'domain_has_another_id'

/** The verdict on a registration to import. */
export type ImportVerdict = 'imported' | 'existing' | ImportConflict

/**
 * Passed as the ID of the calling team, although no team has this ID: an import contains registrations of several
 * teams, none of which makes the call.
 */
const NO_CALLING_TEAM = ''

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

/**
 * Judges registrations one after another, as if the earlier ones were already saved.
 *
 * @returns One verdict for each registration, in the same order.
 */
export function judgeImports(rows: readonly Registration[], found: ImportFindings): readonly ImportVerdict[] {
  const held = new Map<string, Registration>(found.registrations.map(each => [each.domain, each]))
  const takenIds = new Set(found.takenIds)
  const holdings = createHoldings(NO_CALLING_TEAM, findBases(rows), found)

  function judgeOne(row: Registration): ImportVerdict {
    const same = held.get(row.domain)
    if (same && same.teamId !== row.teamId) return 'domain_already_licensed'
    if (same) return same.domainId === row.domainId ? 'existing' : 'domain_has_another_id'
    if (takenIds.has(row.domainId)) return 'id_is_taken'
    const wildcard = holdings.wildcardsAbove(row).find(({ domain }) => covers(domain, row))
    if (wildcard) return wildcard.teamId === row.teamId ? 'wildcard_conflict' : 'domain_already_licensed'
    return judge(row, NO_CALLING_TEAM, holdings).status === 'created' ? 'imported' : 'subdomain_conflict'
  }

  return rows.map(row => {
    const verdict = judgeOne(row)
    if (verdict === 'imported') {
      held.set(row.domain, row)
      takenIds.add(row.domainId)
      holdings.add(row, row.teamId)
    }
    return verdict
  })
}
