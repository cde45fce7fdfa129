import { classifyHostname, type InvalidHostname } from '../hostname/classify.ts'
import { quoteDisplayed } from '../hostname/display.ts'
import { quote } from '../hostname/quote.ts'
import { ancestorsOf, baseOf, isWildcard, type Name } from './name.ts'
import {
  COUNTED_AT_LEAST,
  type ImportFindings,
  type LookUpResult,
  type NamesBelow,
  NO_CALLING_TEAM,
  type Registration,
} from './registration.ts'
import type { ConflictCode, GivenRefusal, Submitted } from './submitted.ts'

/** The registrations that are relevant to the names of one call. */
interface Holdings {
  /** Returns the team that has registered exactly this domain. */
  ownerOf(domain: string): string | undefined
  /** Returns the registered wildcards, of any team, whose base is above a name. The nearest base comes first. */
  wildcardsAbove(name: Name): readonly Owned[]
  /** Returns the registrations below the base of a submitted wildcard. */
  below(wildcard: Name): NamesBelow
  /** Adds a name that a team registers in this call. */
  add(name: Name, owner: string): void
}

/** The part of a registration that the rules need. */
type Owned = Pick<Registration, 'domain' | 'teamId'>

/** The verdict on a submitted name. */
export type Verdict =
  | { readonly status: 'created' | 'existing' }
  | ({ readonly status: 'invalid' } & (Conflict | InvalidHostname | GivenRefusal))
  | typeof notAsked

/** The registrations with which a name conflicts. */
interface Conflict {
  readonly code: ConflictCode
  /** Always equal to {@link code}, because each of these codes has only one reason. */
  readonly reason: ConflictCode
  /** At most three of the conflicting registrations, in canonical form. Absent if the conflict is with another team. */
  readonly conflicts?: readonly string[]
  /**
   * How many conflicting registrations the same team has. If this number is 1,000 or more, the real number may be even
   * higher.
   */
  readonly count?: number
  readonly message: string
}

/**
 * The rules of overlap. A name covers itself. `*.d` covers every name and narrower wildcard below `d` within the same
 * registrable domain, at any depth, but not `d` itself. The first rule that applies decides. Rules about the same team
 * come before rules about other teams:
 *
 * | registered | submitted | verdict |
 * | --- | --- | --- |
 * | the same name, by the same team | any | `existing` |
 * | anything else | a name that today's suffix list rejects | the code of that rejection |
 * | anything else | a name that the application rejects | the code of that rejection |
 * | a wildcard of the same team that covers the name | any | `wildcard_conflict` |
 * | names of the same team that the wildcard would cover | wildcard | `subdomain_conflict` |
 * | the same or an overlapping name, by another team | any | `domain_already_licensed` |
 * | none of these | a name about which the application was not asked | `internal_error` |
 * | none of these | any | `created` |
 *
 * Messages never name registrations of other teams.
 */
export function judge(name: Submitted, teamId: string, holdings: Holdings): Verdict {
  const owner = holdings.ownerOf(name.domain)
  if (owner === teamId) return { status: 'existing' }
  if (name.rejection) return { status: 'invalid', ...name.rejection }
  if (typeof name.answer === 'object') return { status: 'invalid', ...name.answer }

  const covering = holdings.wildcardsAbove(name).filter(wildcard => covers(wildcard.domain, name))
  const ownWildcard = covering.find(wildcard => wildcard.teamId === teamId)
  if (ownWildcard) {
    const conflicts = [ownWildcard.domain]
    const wildcard = quoteDisplayed(ownWildcard.domain)
    const whose = 'which this team has registered, or which is in this list'
    const message = `${quoteSent(name)} is covered by ${wildcard}, ${whose}.`
    return toVerdict('wildcard_conflict', message, { conflicts, count: 1 })
  }

  const below = isWildcard(name.domain) ? addNoLongerSeparated(holdings.below(name), name, teamId) : null
  if (below && below.ownCount > 0) {
    const { ownDomains, ownCount: count } = below
    return toVerdict('subdomain_conflict', explainSubdomains(name, below), { conflicts: ownDomains.slice(0, 3), count })
  }

  if (owner !== undefined || covering.length > 0 || below?.heldByOthers) {
    const message = `${quoteSent(name)} cannot be registered: it overlaps with a registration of another team.`
    return toVerdict('domain_already_licensed', message)
  }
  return name.answer === 'not asked' ? notAsked : { status: 'created' }
}

/** The name has become free after the application was asked about the call. */
const notAsked = {
  status: 'invalid',
  code: 'internal_error',
  reason: 'internal_error',
  message: 'The hostname became available during this call; send it again.',
} as const

/**
 * Returns whether a registered wildcard covers a name below its base. A public suffix between the name and the base
 * separates them, as `s3.amazonaws.com` separates its buckets from `*.amazonaws.com`. The registrable domain of a
 * separated name is longer than the base. A wildcard whose base is a public suffix today was registered under an older
 * list, and still covers all names below its base.
 */
export function covers(wildcard: string, name: Name): boolean {
  const base = baseOf(wildcard)
  return !isSeparated(name, base) || registrableDomainOf(base) === null
}

/** Returns whether a public suffix separates a name from a base above it. */
export const isSeparated = ({ registrableDomain }: Name, base: string): boolean =>
  registrableDomain.length > base.length

/**
 * Adds the names that are no longer separated from the base by a public suffix: today's list determines what a new
 * wildcard covers.
 */
function addNoLongerSeparated(below: NamesBelow, wildcard: Name, teamId: string): NamesBelow {
  const covered = below.behindSuffixes.filter(
    ({ domain }) => registrableDomainOf(domain) === wildcard.registrableDomain,
  )
  return covered.reduce((found, registration) => addBelow(found, registration, teamId), below)
}

function addBelow(below: NamesBelow, { domain, teamId: owner }: Owned, teamId: string): NamesBelow {
  if (owner !== teamId) return { ...below, heldByOthers: true }
  return { ...below, ownDomains: [...below.ownDomains, domain].slice(0, 3), ownCount: below.ownCount + 1 }
}

/**
 * Returns the registrable domain according to the installed suffix list, or `null` if the list does not allow the name.
 */
function registrableDomainOf(domain: string): string | null {
  const hostname = classifyHostname(domain)
  return hostname.valid ? hostname.registrableDomain : null
}

const toVerdict = (
  code: ConflictCode,
  message: string,
  found: Pick<Conflict, 'conflicts' | 'count'> = {},
): Verdict => ({
  status: 'invalid',
  code,
  reason: code,
  ...found,
  message,
})

/** Quotes the name as sent, which may be in Unicode. */
const quoteSent = ({ input, domain }: Submitted) => quote(input?.trim() ?? domain)

function explainSubdomains(wildcard: Submitted, { ownDomains, ownCount }: NamesBelow): string {
  const named = ownDomains.slice(0, 3)
  const others = ownCount - named.length
  const list = named.map(quoteDisplayed).join(', ')
  const rest = others > 0 ? ` and ${ownCount >= COUNTED_AT_LEAST ? 'at least ' : ''}${others} more` : ''
  const whose = 'which this team has registered, or which are in this list'
  return `${quoteSent(wildcard)} would cover ${list}${rest}, ${whose}: delete them first, or leave them out.`
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

/**
 * Whether today's list and the application allow a name. Any other name is looked up, but cannot be created, so it
 * needs neither a lock nor an overlap check.
 */
export const isAllowed = ({ rejection, answer }: Submitted) => rejection === undefined && typeof answer !== 'object'

/** @param teamId The calling team. */
export function createHoldings(teamId: string, bases: readonly string[], found: LookUpResult): Holdings {
  const owners = new Map(found.registrations.map(({ domain, teamId: owner }) => [domain, owner]))
  const wildcards = new Map<string, Owned>(
    found.registrations.filter(({ domain }) => isWildcard(domain)).map(wildcard => [baseOf(wildcard.domain), wildcard]),
  )
  const belowBases = new Map(bases.map((base, index) => [base, requireBelow(found.below[index])]))

  return {
    ownerOf: domain => owners.get(domain),

    wildcardsAbove: ({ domain }) => ancestorsOf(domain).flatMap(base => wildcards.get(base) ?? []),

    below: ({ domain }) => requireBelow(belowBases.get(baseOf(domain))),

    add(name, owner) {
      const added = { domain: name.domain, teamId: owner }
      owners.set(name.domain, owner)
      if (isWildcard(name.domain)) wildcards.set(baseOf(name.domain), added)
      for (const base of ancestorsOf(name.domain)) {
        const below = belowBases.get(base)
        if (below && !isSeparated(name, base)) belowBases.set(base, addBelow(below, added, teamId))
      }
    },
  }
}

function requireBelow(below: NamesBelow | undefined): NamesBelow {
  if (!below) throw new TypeError('The store must return one entry of "below" for each base')
  return below
}

/** Why a registration cannot be imported: it conflicts with registrations in the store. */
export type ImportConflict = ConflictCode | 'id_is_taken' | 'domain_has_another_id'

type ImportVerdict = 'imported' | 'existing' | ImportConflict

/**
 * Judges registrations one after another, as if the earlier ones were already saved.
 *
 * @returns One verdict for each registration, in the same order.
 */
export function judgeImports(rows: readonly Registration[], found: ImportFindings): readonly ImportVerdict[] {
  const registered = new Map<string, Registration>(found.registrations.map(each => [each.domain, each]))
  const takenIds = new Set(found.takenIds)
  const holdings = createHoldings(NO_CALLING_TEAM, findBases(rows), found)

  function judgeOne(row: Registration): ImportVerdict {
    const same = registered.get(row.domain)
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
      registered.set(row.domain, row)
      takenIds.add(row.domainId)
      holdings.add(row, row.teamId)
    }
    return verdict
  })
}
