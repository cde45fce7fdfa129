import { baseOf, isWildcard, type Name } from './name.ts'
import { type Below, COUNTED_AT_LEAST } from './store.ts'

/** The registrations that matter to the names of one call. */
export interface Holdings {
  /** The team that holds exactly this domain. */
  ownerOf(domain: string): string | undefined
  /** The wildcards that cover a name, of any team, nearest first. */
  covering(name: Name): readonly Held[]
  /** What is held below the base of a submitted wildcard. */
  below(wildcard: Name): Below
}

interface Held {
  readonly domain: string
  readonly teamId: string
}

/** What the rules say of a submitted name. */
export type Verdict =
  | { readonly status: 'created' | 'existing' }
  | {
      readonly status: 'invalid'
      readonly code: 'wildcard_conflict' | 'subdomain_conflict' | 'domain_already_licensed'
      readonly message: string
    }

/**
 * The rules of overlap. A name covers itself; `*.d` covers every name and narrower wildcard below `d` within the same
 * registrable domain, at any depth, and not `d`. The first rule that applies decides, the own team before other teams:
 *
 * | the registry holds | submitted | verdict |
 * | --- | --- | --- |
 * | the same name, own team | any | `existing` |
 * | a wildcard of the own team that covers it | any | `wildcard_conflict` |
 * | names of the own team that it would cover | wildcard | `subdomain_conflict` |
 * | the same name or an overlap either way, another team | any | `domain_already_licensed` |
 * | none of these | any | `created` |
 *
 * A message names a conflicting registration only if it is the own team's.
 */
export function judge(name: Name, teamId: string, holdings: Holdings): Verdict {
  const owner = holdings.ownerOf(name.domain)
  if (owner === teamId) return EXISTING

  const covering = holdings.covering(name)
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

  const below = isWildcard(name) ? holdings.below(name) : null
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
  return CREATED
}

const EXISTING: Verdict = { status: 'existing' }
const CREATED: Verdict = { status: 'created' }

function explainSubdomains(wildcard: Name, { ownDomains, ownCount }: Below): string {
  const named = ownDomains.slice(0, 3)
  const others = ownCount - named.length
  const list = named.map(domain => `"${domain}"`).join(', ')
  const rest = others > 0 ? ` and ${ownCount >= COUNTED_AT_LEAST ? 'at least ' : ''}${others} more` : ''
  const place = `which this team has registered below "${baseOf(wildcard)}"`
  return `"${wildcard.domain}" would cover ${list}${rest}, ${place}; release them first.`
}
