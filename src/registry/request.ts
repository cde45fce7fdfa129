import { findRefusal } from './limit.ts'
import { ancestorsOf, baseOf, isWildcard, type Name, wildcardOver } from './name.ts'
import { addBelow, type Held, type Holdings, isParted, judge, type Verdict } from './overlap.ts'
import type { LookUp, LookUpResult, NamesBelow, RegistrationRequest } from './store.ts'
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
}

/** Turns the names of a call into the request for the store. */
export function createRegistrationRequest({ teamId, submitted, timeLimit, limit }: SubmittedCall): RegistrationRequest {
  const judged = limit?.names ?? submitted
  const part = limit && new Set(submitted)
  return {
    ...createLookUp(teamId, judged, limit !== undefined),
    registrableDomains: [
      ...new Set(submitted.filter(isAllowed).map(({ registrableDomain }) => registrableDomain)),
    ].sort(),
    timeLimit,
    decide(found) {
      const verdicts = judgeAll(teamId, judged, found)
      if (limit && findRefusal(limit.maxDomains, found, verdicts)) return []
      return judged.filter((name, index) => verdicts[index]?.status === 'created' && part?.has(name) !== false)
    },
  }
}

/**
 * Whether today's list allows a name. A name that the list rejects is looked up, but cannot be created, so it needs
 * neither a lock nor an overlap check.
 */
const isAllowed = ({ refusal }: Submitted) => refusal === undefined

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
