import { ancestorsOf, baseOf, isWildcard, type Name, wildcardOver } from './name.ts'
import { type Holdings, judge, type Verdict } from './overlap.ts'
import { findRegistrableDomains, type RegistrableDomains } from './registrable-domains.ts'
import type { Below, Found, RegistrationRequest } from './store.ts'

/** A request that can judge its names by what the store found. */
interface JudgedRequest extends RegistrationRequest {
  /** Judges the names of the call, in their order. Reuses the verdicts of `decide` if it had the same findings. */
  judge(found: Found): readonly Verdict[]
}

/**
 * Turns the names of a call into the request for the store.
 *
 * @param submitted In the submitted order, duplicates included.
 */
export function createRegistrationRequest(
  teamId: string,
  submitted: readonly Name[],
  registrableDomains = findRegistrableDomains(submitted),
): JudgedRequest {
  let decided: { readonly found: Found; readonly verdicts: readonly Verdict[] } | undefined
  const judgeAnew = (found: Found) => judgeAll(teamId, submitted, found, registrableDomains)

  return {
    teamId,
    // Sorted on demand: a store without locks does not read them.
    get registrableDomains() {
      return [...registrableDomains.all].sort()
    },
    names: toLookUps(submitted, registrableDomains),
    wildcardBases: findWildcardBases(submitted),
    decide(found) {
      // Not reused from the last call: a store may have changed the findings in place.
      decided = { found, verdicts: judgeAnew(found) }
      const { verdicts } = decided
      return submitted.filter((_, index) => verdicts[index]?.status === 'created')
    },
    judge: found => (decided?.found === found ? decided.verdicts : judgeAnew(found)),
  }
}

/**
 * Judges names as if they had been submitted one after another: each sees those before it.
 *
 * @param found The findings of the store for the request with these names.
 * @returns One verdict for each name, in the same order.
 */
export function judgeAll(
  teamId: string,
  submitted: readonly Name[],
  found: Found,
  { shared } = findRegistrableDomains(submitted),
): readonly Verdict[] {
  const holdings = createHoldings(teamId, findWildcardBases(submitted), found)
  return submitted.map(name => {
    const verdict = judge(name, teamId, holdings)
    // A name that is alone in its registrable domain matters to no other name of the call.
    if (verdict.status === 'created' && shared.has(name.registrableDomain)) holdings.add(name)
    return verdict
  })
}

/** Returns the names and every wildcard that could cover one of them, distinct. */
function toLookUps(names: readonly Name[], { shared }: RegistrableDomains): Name[] {
  const lookUps: Name[] = []
  const seen = new Set<string>()

  /** @returns Whether it is new. All look-ups of a name that is alone in its registrable domain are. */
  function add(lookUp: Name): boolean {
    if (shared.has(lookUp.registrableDomain)) {
      if (seen.has(lookUp.domain)) return false
      seen.add(lookUp.domain)
    }
    lookUps.push(lookUp)
    return true
  }

  for (const name of names) {
    add(name)
    const { registrableDomain } = name
    for (const base of ancestorsOf(name)) {
      // The wildcards above it were added with it, so deep names with common ancestors cost little more than one.
      if (!add({ domain: wildcardOver(base), registrableDomain })) break
    }
  }
  return lookUps
}

function findWildcardBases(names: readonly Name[]): Name[] {
  const bases = new Map<string, Name>()
  for (const name of names) {
    if (isWildcard(name)) bases.set(name.domain, { domain: baseOf(name), registrableDomain: name.registrableDomain })
  }
  return [...bases.values()]
}

interface GrowingHoldings extends Holdings {
  /** Adds a name that the team registers in this call. */
  add(name: Name): void
}

function createHoldings(teamId: string, wildcardBases: readonly Name[], found: Found): GrowingHoldings {
  const owners = new Map<string, string>()
  const wildcardOwners = new Map<string, string>()
  const belowBase = new Map(wildcardBases.map((base, index) => [base.domain, requireBelow(found.below[index])]))

  function hold(name: Name, owner: string): void {
    owners.set(name.domain, owner)
    if (isWildcard(name)) wildcardOwners.set(baseOf(name), owner)
  }
  for (const registration of found.registrations) hold(registration, registration.teamId)

  return {
    // Mostly nothing is held. Then no domain has to be hashed.
    ownerOf: domain => (owners.size === 0 ? undefined : owners.get(domain)),

    covering(name) {
      if (wildcardOwners.size === 0) return []
      return ancestorsOf(name).flatMap(base => {
        const owner = wildcardOwners.get(base)
        return owner === undefined ? [] : [{ domain: wildcardOver(base), teamId: owner }]
      })
    },

    below: wildcard => requireBelow(belowBase.get(baseOf(wildcard))),

    add(name) {
      hold(name, teamId)
      if (belowBase.size === 0) return
      for (const base of ancestorsOf(name)) {
        const below = belowBase.get(base)
        if (below) belowBase.set(base, withOwn(below, name.domain))
      }
    },
  }
}

const withOwn = (below: Below, domain: string): Below => ({
  ...below,
  ownDomains: [...below.ownDomains, domain].slice(0, 3),
  ownCount: below.ownCount + 1,
})

function requireBelow(below: Below | undefined): Below {
  if (!below) throw new Error('The store did not say what is below each of wildcardBases')
  return below
}
