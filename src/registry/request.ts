import { ancestorsOf, baseOf, isWildcard, type Name, wildcardOver } from './name.ts'
import { type Holdings, judge, type Verdict } from './overlap.ts'
import type { Below, Found, RegistrationRequest } from './store.ts'

/**
 * Turns the names of a call into the question for the store.
 *
 * @param submitted In the submitted order, duplicates included.
 */
export function createRegistrationRequest(teamId: string, submitted: readonly Name[]): RegistrationRequest {
  return {
    teamId,
    registrableDomains: [...new Set(submitted.map(name => name.registrableDomain))].sort(),
    names: toLookUps(submitted),
    wildcardBases: findWildcardBases(submitted),
    decide(found) {
      const verdicts = judgeAll(teamId, submitted, found)
      return submitted.filter((_, index) => verdicts[index]?.status === 'created')
    },
  }
}

/**
 * Judges names as if they had been submitted one by one: each sees those before it.
 *
 * @param found What the store found for the request of the same names.
 * @returns One verdict for each name, in the same order.
 */
export function judgeAll(teamId: string, submitted: readonly Name[], found: Found): readonly Verdict[] {
  const holdings = createHoldings(teamId, findWildcardBases(submitted), found)
  return submitted.map(name => {
    const verdict = judge(name, teamId, holdings)
    if (verdict.status === 'created') holdings.add(name)
    return verdict
  })
}

/** The names and every wildcard that could cover one, distinct. */
function toLookUps(names: readonly Name[]): Name[] {
  const lookUps = new Map<string, Name>()
  const walked = new Set<string>()
  for (const name of names) {
    const { registrableDomain } = name
    lookUps.set(name.domain, name)
    for (const base of ancestorsOf(name)) {
      // Whatever lies above it has been walked as well, so that deep names with common ancestors cost no more than one.
      if (walked.has(base)) break
      walked.add(base)
      const domain = wildcardOver(base)
      if (!lookUps.has(domain)) lookUps.set(domain, { domain, registrableDomain })
    }
  }
  return [...lookUps.values()]
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
    ownerOf: domain => owners.get(domain),

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
