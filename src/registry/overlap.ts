import { classifyHostname, type HostnameRejection } from '../hostname/classify.ts'
import { baseOf, isWildcard, type Name } from './name.ts'
import { COUNTED_AT_LEAST, type NamesBelow } from './store.ts'
import type { Submitted } from './submitted.ts'

/** The registrations that matter to the names of one call. */
export interface Holdings {
  /** The team that holds exactly this domain. */
  ownerOf(domain: string): string | undefined
  /** The wildcards over the names above a name, of any team, nearest first. */
  wildcardsAbove(name: Name): readonly Held[]
  /** What is held below the base of a submitted wildcard. */
  below(wildcard: Name): NamesBelow
}

/** A registration, as far as the rules need it. */
export interface Held {
  readonly domain: string
  readonly teamId: string
}

/** What the rules say of a submitted name. */
export type Verdict =
  | { readonly status: 'created' | 'existing' }
  | {
      readonly status: 'invalid'
      readonly code: 'wildcard_conflict' | 'subdomain_conflict' | 'domain_already_licensed' | HostnameRejection
      readonly message: string
    }

/**
 * The rules of overlap. A name covers itself; `*.d` covers every name and narrower wildcard below `d` within the same
 * registrable domain, at any depth, and not `d`. The first rule that applies decides, the own team before other teams:
 *
 * | the registry holds | submitted | verdict |
 * | --- | --- | --- |
 * | the same name, own team | any | `existing` |
 * | anything else | what today's suffix list refuses | that refusal |
 * | a wildcard of the own team that covers it | any | `wildcard_conflict` |
 * | names of the own team that it would cover | wildcard | `subdomain_conflict` |
 * | the same name or an overlap either way, another team | any | `domain_already_licensed` |
 * | none of these | any | `created` |
 *
 * A message names a conflicting registration only if it is the own team's.
 */
export function judge(name: Submitted, teamId: string, holdings: Holdings): Verdict {
  const owner = holdings.ownerOf(name.domain)
  if (owner === teamId) return { status: 'existing' }
  if (name.refusal) return { status: 'invalid', code: name.refusal.code, message: name.refusal.message }

  const covering = holdings.wildcardsAbove(name).filter(wildcard => covers(wildcard.domain, name))
  const ownWildcard = covering.find(wildcard => wildcard.teamId === teamId)
  if (ownWildcard) {
    return {
      status: 'invalid',
      code: 'wildcard_conflict',
      message:
        `"${name.domain}" is covered by "${ownWildcard.domain}", which this team has registered; ` +
        'there is nothing to add.',
    }
  }

  const below = isWildcard(name.domain) ? withoutSuffixes(holdings.below(name), name, teamId) : null
  if (below && below.ownCount > 0) {
    return { status: 'invalid', code: 'subdomain_conflict', message: explainSubdomains(name, below) }
  }

  if (owner !== undefined || covering.length > 0 || below?.heldByOthers) {
    return {
      status: 'invalid',
      code: 'domain_already_licensed',
      message: `"${name.domain}" cannot be registered: it overlaps with a registration of another team.`,
    }
  }
  return { status: 'created' }
}

/**
 * Tells whether a registered wildcard covers a name below its base. A public suffix between the two parts them, as it
 * parts `*.amazonaws.com` from a bucket below `s3.amazonaws.com`: the name's registrable domain is then longer than
 * the base. A wildcard over what is a public suffix today was registered under an older list, and still covers all
 * below it.
 */
export function covers(wildcard: string, name: Name): boolean {
  const base = baseOf(wildcard)
  return !isParted(name, base) || registrableDomainOf(base) === null
}

/** Tells whether a public suffix lies between a name and a base above it. */
export const isParted = ({ registrableDomain }: Name, base: string): boolean => registrableDomain.length > base.length

/**
 * Counts what stood behind a public suffix when it was registered, and does so no longer. Today's list says what a new
 * wildcard covers.
 */
function withoutSuffixes(below: NamesBelow, wildcard: Name, teamId: string): NamesBelow {
  const covered = below.behindSuffixes.filter(
    ({ domain }) => registrableDomainOf(domain) === wildcard.registrableDomain,
  )
  return covered.reduce((counted, held) => addBelow(counted, held, teamId), below)
}

/** Adds a registration to what is held below a base. */
export function addBelow(below: NamesBelow, { domain, teamId: owner }: Held, teamId: string): NamesBelow {
  if (owner !== teamId) return { ...below, heldByOthers: true }
  return { ...below, ownDomains: [...below.ownDomains, domain].slice(0, 3), ownCount: below.ownCount + 1 }
}

/** Returns the registrable domain by the installed suffix list; `null` for what cannot be registered by it. */
function registrableDomainOf(domain: string): string | null {
  const hostname = classifyHostname(domain)
  return hostname.valid ? hostname.registrableDomain : null
}

function explainSubdomains(wildcard: Name, { ownDomains, ownCount }: NamesBelow): string {
  const named = ownDomains.slice(0, 3)
  const others = ownCount - named.length
  const list = named.map(domain => `"${domain}"`).join(', ')
  const rest = others > 0 ? ` and ${ownCount >= COUNTED_AT_LEAST ? 'at least ' : ''}${others} more` : ''
  const place = `which this team has registered below "${baseOf(wildcard.domain)}"`
  return `"${wildcard.domain}" would cover ${list}${rest}, ${place}; release them first.`
}
