import { ancestorsOf, baseOf, coveringWildcards, isWildcard, type Name } from './name.ts'
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
  const zones = groupByRegistrableDomain(submitted)
  const wildcardBases = findWildcardBases(submitted)
  return {
    teamId,
    // For stores that lock; the others need not wait for the sorting.
    get registrableDomains() {
      return [...zones.keys()].sort()
    },
    names: toLookUps(zones.values()),
    wildcardBases,
    decide(found) {
      const decision = decide({ teamId, submitted, zones, wildcardBases }, found)
      onDecision(decision)
      return decision.created
    },
  }
}

function groupByRegistrableDomain(names: readonly Name[]): Map<string, Name[]> {
  const groups = new Map<string, Name[]>()
  for (const name of names) {
    const group = groups.get(name.registrableDomain)
    if (group) group.push(name)
    else groups.set(name.registrableDomain, [name])
  }
  return groups
}

/** The names and every wildcard that could cover one, distinct. Only names of one zone can have any in common. */
function toLookUps(zones: Iterable<readonly Name[]>): Name[] {
  const lookUps: Name[] = []
  for (const names of zones) {
    const seen = names.length > 1 ? new Set<string>() : undefined
    const add = (name: Name) => {
      if (seen?.has(name.domain)) return
      seen?.add(name.domain)
      lookUps.push(name)
    }
    for (const name of names) {
      add(name)
      for (const domain of coveringWildcards(name)) add({ domain, registrableDomain: name.registrableDomain })
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

interface Submission {
  readonly teamId: string
  readonly submitted: readonly Name[]
  readonly zones: ReadonlyMap<string, readonly Name[]>
  readonly wildcardBases: readonly Name[]
}

/** Judges the names as if they had been submitted one by one: each sees those before it. */
function decide({ teamId, submitted, zones, wildcardBases }: Submission, found: Found): Decision {
  const holdings = createHoldings(teamId, wildcardBases, found)
  const isAlone = (name: Name) => zones.get(name.registrableDomain)?.length === 1
  const created: Name[] = []
  const verdicts = submitted.map(name => {
    const verdict = judge(name, teamId, holdings)
    if (verdict.status === 'created') {
      created.push(name)
      if (!isAlone(name)) holdings.add(name)
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
  const owners = new Map<string, string>()
  const wildcardOwners = new Map<string, string>()
  const belowBase = new Map(wildcardBases.map((base, index) => [base.domain, found.below[index] ?? missing()]))

  function hold(name: Name, owner: string): void {
    owners.set(name.domain, owner)
    if (isWildcard(name)) wildcardOwners.set(name.domain, owner)
  }
  for (const registration of found.registrations) hold(registration, registration.teamId)

  return {
    // Most often nothing is held, and nothing needs to be hashed.
    ownerOf: domain => (owners.size === 0 ? undefined : owners.get(domain)),
    covering(name) {
      if (wildcardOwners.size === 0) return []
      return coveringWildcards(name).flatMap(domain => {
        const owner = wildcardOwners.get(domain)
        return owner === undefined ? [] : [{ domain, teamId: owner }]
      })
    },
    below: wildcard => belowBase.get(baseOf(wildcard)) ?? missing(),
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

function missing(): never {
  throw new Error('The store did not say what is below each of wildcardBases')
}
