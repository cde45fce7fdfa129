import { ancestorsOf, baseOf, coveringWildcards, isWildcard, type Name, wildcardOver } from './name.ts'
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
  const shared = findShared(submitted)
  // Only names of one registrable domain can be equal, have a wildcard in common, or overlap.
  const isAlone = (name: Name) => shared.size === 0 || !shared.has(name.registrableDomain)
  const wildcardBases = findWildcardBases(submitted)
  return {
    teamId,
    // For stores that lock; the others need not wait for the sorting.
    get registrableDomains() {
      const registrableDomains = submitted.map(name => name.registrableDomain)
      return (shared.size === 0 ? registrableDomains : [...new Set(registrableDomains)]).sort()
    },
    names: toLookUps(submitted, isAlone),
    wildcardBases,
    decide(found) {
      const decision = decide({ teamId, submitted, isAlone, wildcardBases }, found)
      onDecision(decision)
      return decision.created
    },
  }
}

/**
 * The registrable domains of more than one name; of most calls none. A hash table: with a `Set` in place of it a call of
 * 100 new names takes a twentieth longer. Names that are chosen to collide cost no more than being compared with each other.
 */
function findShared(names: readonly Name[]): Set<string> {
  const shared = new Set<string>()
  const seen = new Array<string | undefined>(2 << (31 - Math.clz32(2 * names.length)))
  for (const name of names) {
    const { registrableDomain } = name
    let slot = sketch(name) & (seen.length - 1)
    while (seen[slot] !== undefined && seen[slot] !== registrableDomain) slot = (slot + 1) & (seen.length - 1)
    if (seen[slot] !== undefined) shared.add(registrableDomain)
    seen[slot] = registrableDomain
  }
  return shared
}

/**
 * A hash of what tells apart the registrable domains of a list: the length, and the characters in the middle and before the
 * public suffix. To read all takes longer than to compare the few that have it in common. Read in the domain, at whose end
 * they stand: engines take longer to read a slice.
 */
function sketch({ domain, registrableDomain }: Name): number {
  const { length } = registrableDomain
  if (length < 6) return length
  const end = domain.length
  const beforeSuffix = domain.charCodeAt(end - 4) * 3 + domain.charCodeAt(end - 5) * 31 + domain.charCodeAt(end - 6) * 7
  return length * 5 + domain.charCodeAt(end - (length >> 1)) + beforeSuffix
}

/** The names and every wildcard that could cover one, distinct. */
function toLookUps(names: readonly Name[], isAlone: (name: Name) => boolean): Name[] {
  const lookUps: Name[] = []
  const seen = new Set<string>()
  function lookUp(name: Name, mayRepeat: boolean): void {
    if (mayRepeat) {
      if (seen.has(name.domain)) return
      seen.add(name.domain)
    }
    lookUps.push(name)
  }

  for (const name of names) {
    const { registrableDomain } = name
    const mayRepeat = !isAlone(name)
    lookUp(name, mayRepeat)
    for (const base of ancestorsOf(name)) lookUp({ domain: wildcardOver(base), registrableDomain }, mayRepeat)
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
  readonly isAlone: (name: Name) => boolean
  readonly wildcardBases: readonly Name[]
}

/** Judges the names as if they had been submitted one by one: each sees those before it. */
function decide({ teamId, submitted, isAlone, wildcardBases }: Submission, found: Found): Decision {
  const holdings = createHoldings(teamId, wildcardBases, found)
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
      if (wildcardOwners.size === 0) return NONE
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

const NONE: readonly never[] = []

const withOwn = (below: Below, domain: string): Below => ({
  ...below,
  ownDomains: [...below.ownDomains, domain].slice(0, 3),
  ownCount: below.ownCount + 1,
})

function missing(): never {
  throw new Error('The store did not say what is below each of wildcardBases')
}
