import type { Name } from './name.ts'

/**
 * A team of your application. Your `findTeam` may return its IDs as numbers, as a database returns an integer column:
 * `Team<string | number>`. Everywhere else, they are strings.
 */
export interface Team<Id extends string | number = string> {
  /** Digits only if callers with an organization key name the team. A number must be a safe integer of at least 0. */
  readonly id: Id
  readonly organizationId: Id
  readonly state: 'active' | 'suspended'
  /**
   * The maximum number of names that the team may have registered; 0 or more. A call that would exceed this limit fails
   * with 403 `domain_limit_reached`, before any of its names is saved. Names that the team has already registered may
   * be sent again. The store must count the team's registrations; see {@link LookUp.needsCount}. Default: no limit.
   */
  readonly maxDomains?: number | null | undefined
}

/** A registered hostname. */
export interface Registration extends Name {
  /** Opaque and unique; the store assigns it, and it never changes. */
  readonly domainId: string
  readonly teamId: string
  /** Whether the monitor has accepted the registration. */
  readonly synchronized: boolean
  /** When the hostname was registered, to the millisecond. */
  readonly createdAt: Date
}

/** Another name of {@link Registration}, for applications that import it. The two types are the same. */
export type ListedRegistration = Registration

/**
 * A registration or a release, to be pushed to the monitor.
 *
 * A change may be delivered twice or late. IDs are never reused. So a monitor stays correct if it watches by
 * `domainId`, and ignores `registered` for an ID once it has received `released` for the same ID.
 */
export interface Change extends Name {
  readonly kind: 'registered' | 'released'
  readonly domainId: string
  readonly teamId: string
  /** When the name was registered or released. Repeated deliveries of a change all have the same time. */
  readonly at: Date
}

/** The ID of no team, for lookups that concern several teams, such as those of imports. */
export const NO_CALLING_TEAM = ''

/** The findings for a {@link LookUp}. */
export interface LookUpResult {
  /** The registrations, of any team, whose domain is in `domains`, and the wildcards above `covered`. In any order. */
  readonly registrations: readonly Registration[]
  /** One entry for each of `bases`, in the same order. */
  readonly below: readonly NamesBelow[]
  /** If the lookup `needsCount`: how many registrations the calling team has. */
  readonly teamCount?: number | undefined
}

/**
 * The registrations below a base, at any depth, without the base itself. A store may include or omit the wildcard over
 * the base, because requests also look up this wildcard in `domains`.
 *
 * Names whose registrable domain lies below the base are listed separately. When they were registered, a public suffix
 * separated them from the base, as in `bucket.s3.amazonaws.com` below `amazonaws.com`. The core checks whether a public
 * suffix still separates these names from the base.
 */
export interface NamesBelow {
  /** Any three of the calling team's domains below the base; all of them if there are fewer. */
  readonly ownDomains: readonly string[]
  /** How many registrations below the base the calling team has. A store MAY stop counting at 1,000, but not before. */
  readonly ownCount: number
  /** Whether another team has registrations below the base. A store need not check this if `ownCount` is above 0. */
  readonly heldByOthers: boolean
  /**
   * Names whose registrable domain is longer than the base. A store MAY stop at 100 names, and need not search for any
   * if `ownCount` is above 0 or `heldByOthers` is true.
   */
  readonly behindSuffixes: readonly { readonly domain: string; readonly teamId: string }[]
}

/** The findings for a base that has no registrations below it. */
export const NOTHING_BELOW: NamesBelow = /* @__PURE__ */ Object.freeze({
  ownDomains: [],
  ownCount: 0,
  heldByOthers: false,
  behindSuffixes: [],
})

/** A store counts {@link NamesBelow.ownCount} at least up to this number. */
export const COUNTED_AT_LEAST = 1000
/** A store lists at least this many {@link NamesBelow.behindSuffixes}, or all if there are fewer. */
export const FOUND_BEHIND_SUFFIXES = 100

/** The findings for an {@link ImportRequest}. */
export interface ImportFindings extends LookUpResult {
  /** The IDs from the request that a registration or a pending change already has, in any order. */
  readonly takenIds: readonly string[]
}
