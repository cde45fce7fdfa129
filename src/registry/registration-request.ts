import { baseOf, coveringWildcards, isWildcard, type Name } from './name.ts'
import { type Holdings, judge, type Verdict } from './overlap.ts'
import type { Below, Found, RegistrationRequest } from './store.ts'

/** What `decide` found and made of it: a verdict for each submitted name, in the submitted order. */
export interface Decision {
  readonly found: Found
  readonly verdicts: readonly Verdict[]
  readonly created: readonly Name[]
}

/**
 * Turns submitted names, duplicates included, into the question for the store.
 *
 * @param onDecision Learns of each decision; the last one is what the store saved.
 */
export function createRegistrationRequest(
  teamId: string,
  submitted: readonly Name[],
  onDecision: (decision: Decision) => void,
): RegistrationRequest {
  const names = new Map<string, Name>()
  const wildcardBases = new Map<string, Name>()
  for (const name of submitted) {
    const { domain, registrableDomain } = name
    if (names.has(domain)) continue
    names.set(domain, name)
    for (const wildcard of coveringWildcards(name)) {
      if (!names.has(wildcard)) names.set(wildcard, { domain: wildcard, registrableDomain })
    }
  }
  for (const name of submitted) {
    if (isWildcard(name)) {
      const base = baseOf(name)
      wildcardBases.set(base, { domain: base, registrableDomain: name.registrableDomain })
    }
  }
  const bases = [...wildcardBases.values()]
  return {
    teamId,
    registrableDomains: [...new Set(submitted.map(name => name.registrableDomain))].sort(),
    names: [...names.values()],
    wildcardBases: bases,
    decide(found) {
      const decision = decide(teamId, submitted, bases, found)
      onDecision(decision)
      return decision.created
    },
  }
}

/** Judges the names as if they had been submitted one by one: each sees those before it. */
function decide(teamId: string, submitted: readonly Name[], wildcardBases: readonly Name[], found: Found): Decision {
  const holdings = createHoldings(teamId, wildcardBases, found)
  const created: Name[] = []
  const verdicts = submitted.map(name => {
    const verdict = judge(name, teamId, holdings)
    if (verdict.status === 'created') {
      created.push(name)
      holdings.add(name)
    }
    return verdict
  })
  return { found, verdicts, created }
}

function createHoldings(
  teamId: string,
  wildcardBases: readonly Name[],
  found: Found,
): Holdings & { add(name: Name): void } {
  const owners = new Map(found.registrations.map(registration => [registration.domain, registration.teamId]))
  const belowBase = new Map(wildcardBases.map((base, index) => [base.domain, found.below[index]]))
  return {
    ownerOf: domain => owners.get(domain),
    below: wildcard => belowBase.get(baseOf(wildcard)) ?? missing(),
    add(name) {
      owners.set(name.domain, teamId)
      if (belowBase.size === 0) return
      for (const wildcard of coveringWildcards(name)) {
        const base = wildcard.slice(2)
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

function missing(): never {
  throw new Error('The store did not say what is below each of wildcardBases')
}
