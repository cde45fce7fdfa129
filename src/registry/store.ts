import type { Awaitable } from '../time/awaitable.ts'
import type { Name } from './name.ts'

/** A team of your application. */
export interface Team {
  /** Digits only. */
  readonly id: string
  readonly organizationId: string
  readonly state: 'active' | 'suspended'
  /**
   * The most domains that the team may register, from 0. A call that would exceed it fails as a whole with 403
   * `domain_limit_reached`, before anything is saved; names that the team already has do not count. The store must
   * count; see {@link LookUp.counted}. Default: no limit.
   */
  readonly maxDomains?: number | null | undefined
}

/** A registered hostname. */
export interface Registration extends Name {
  /** Opaque and unique; the store assigns it, and it never changes. */
  readonly domainId: string
  readonly teamId: string
  /** Whether the monitor has accepted it. */
  readonly synchronized: boolean
  /** When it was registered, in whole milliseconds. */
  readonly createdAt: Date
}

/** A registration in a list. */
export type ListedRegistration = Registration

/**
 * A registration or a release that the monitor must follow.
 *
 * A change may be delivered twice or late. A monitor that watches by `domainId`, and ignores `registered` for an ID
 * after `released`, is still correct: IDs are never reused.
 */
export interface Change extends Name {
  readonly kind: 'registered' | 'released'
  readonly domainId: string
  readonly teamId: string
  /** When the name was registered or released; the same each time the change is delivered. */
  readonly at: Date
}

/**
 * A query for registrations by name, independent of the suffix list. Any of the arrays may be empty.
 */
export interface LookUp {
  /** The calling team. */
  readonly teamId: string
  /** The canonical names to look up exactly, distinct. A wildcard is looked up literally. */
  readonly domains: readonly string[]
  /** The canonical names below which to look, distinct: the bases of wildcards, without `*.`. */
  readonly bases: readonly string[]
  /** Whether to count the team's registrations, because it has a limit. Default: no. */
  readonly counted?: boolean | undefined
}

/** The findings for a {@link LookUp}. */
export interface LookUpResult {
  /** The registrations, of any team, whose domain is in `domains`. In any order. */
  readonly registrations: readonly Registration[]
  /** One for each of `bases`, in that order. */
  readonly below: readonly NamesBelow[]
  /** If the lookup is `counted`: how many registrations the calling team has. */
  readonly held?: number | undefined
}

/**
 * The registrations below a base, at any depth, without the base itself. The wildcard over the base may or may not be
 * counted: requests also look it up among `domains`.
 *
 * Names whose registrable domain lies below the base are listed separately, because a public suffix separated the two
 * when they were registered: `bucket.s3.amazonaws.com` below `amazonaws.com`. The core checks whether one still does.
 */
export interface NamesBelow {
  /** Any three domains of the calling team; fewer if it has fewer. */
  readonly ownDomains: readonly string[]
  /** How many the calling team has. A store MAY stop counting at 1,000, but not before. */
  readonly ownCount: number
  /** Whether another team has any. A store need not look if `ownCount` is not 0. */
  readonly heldByOthers: boolean
  /**
   * Names whose registrable domain is longer than the base. A store MAY stop at 10, and need not look if `ownCount` is
   * not 0 or `heldByOthers` is true.
   */
  readonly behindSuffixes: readonly { readonly domain: string; readonly teamId: string }[]
}

/** For a base with no registrations below it. */
export const NOTHING_BELOW: NamesBelow = /* @__PURE__ */ Object.freeze({
  ownDomains: [],
  ownCount: 0,
  heldByOthers: false,
  behindSuffixes: [],
})

/** A store counts {@link NamesBelow.ownCount} at least up to here. */
export const COUNTED_AT_LEAST = 1000
/** A store finds {@link NamesBelow.behindSuffixes} at least up to here. */
export const FOUND_BEHIND_SUFFIXES = 10

/** The request of {@link DomainStore.register}, for one atomic step. Every lookup is by key. */
export interface RegistrationRequest extends LookUp {
  /**
   * The registrable domains to lock: distinct, in ascending order of code units, so that two calls cannot deadlock.
   */
  readonly registrableDomains: readonly string[]
  /**
   * Milliseconds that the caller waits. A store MUST have settled by then, and MUST NOT do anything for the request
   * afterwards: a caller without a result may commit or roll back its own transaction.
   */
  readonly timeLimit: number
  /**
   * Decides which names to save. Pure and synchronous: the same findings give the same names. A store may call it any
   * number of times, each time with newer findings.
   *
   * @returns The names to register for the team; distinct, and none of them among those found.
   */
  decide(found: LookUpResult): readonly Name[]
}

/** The result of {@link DomainStore.register}. */
export interface SavedRegistrations {
  /** The findings that were passed to the call of `decide` whose names were saved. */
  readonly found: LookUpResult
  /** The saved registrations, in the order in which that call returned their names. */
  readonly saved: readonly Registration[]
}

/** The findings for an {@link ImportRequest}. */
export interface ImportFindings extends LookUpResult {
  /** Those of its `domainIds` that a registration or a pending change has, in any order. */
  readonly takenIds: readonly string[]
}

/** The request of {@link DomainStore.import}, for one atomic step. Its `teamId` belongs to no team. */
export interface ImportRequest extends LookUp {
  /** The registrable domains to lock, as in a {@link RegistrationRequest}. */
  readonly registrableDomains: readonly string[]
  /** The IDs to look up: distinct, in lower case. */
  readonly domainIds: readonly string[]
  /**
   * Decides what to save. Pure and synchronous; may be called any number of times, each time with newer findings.
   *
   * @returns At most 1,000 registrations, to be saved with their own IDs, teams and times.
   */
  decide(found: ImportFindings): readonly ListedRegistration[]
}

/** The findings for a {@link TransferRequest}. */
export interface TransferFindings {
  /** Those of its `domains` that the team `from` has registered, in any order. */
  readonly registrations: readonly Registration[]
  /** If the request is `counted`: how many registrations the team `to` has. */
  readonly held?: number | undefined
}

/** The request of {@link DomainStore.transfer}, for one atomic step. */
export interface TransferRequest {
  readonly from: string
  readonly to: string
  /** Names in any spelling that {@link classifyHostname} accepts, or values of `domainId`; at most 1,000. */
  readonly domains: readonly string[]
  /** Whether to count the registrations of the team `to`, because it has a limit. */
  readonly counted: boolean
  /**
   * Whether to transfer the found registrations, all or none. Pure and synchronous; may be called any number of times,
   * each time with newer findings.
   */
  decide(found: TransferFindings): boolean
}

/** The result of {@link DomainStore.transfer}. */
export interface TransferredRegistrations {
  /** The findings that were passed to the call of `decide` whose result was used. */
  readonly found: TransferFindings
  /** The transferred registration for each one found, in the same order. Empty if nothing was transferred. */
  readonly saved: readonly Registration[]
}

/** Which registrations to list. */
export interface ListOptions {
  /** Lists only this team's. Default: those of all teams. */
  readonly teamId?: string | undefined
  /**
   * Where the page begins: after the registration with this `domainId`; with `below`, after this domain. A cursor is
   * opaque to everything except the store. Default: from the first.
   *
   * IDs are assigned before a call commits, so a registration that commits while you list may sort before `after`: to
   * miss none, list again from an ID that is older than your longest call.
   */
  readonly after?: string | undefined
  /** The length of a page, at most 1,000, which is the default. {@link eachRegistration} reads page by page. */
  readonly limit?: number | undefined
  /** Default `oldest`: in the order of registration. Not with `below`. */
  readonly order?: 'oldest' | 'newest' | undefined
  /** Lists only the registration of exactly this name, if there is one. */
  readonly domain?: string | undefined
  /**
   * Lists only registrations below this name, at any depth, with the wildcard over it and without the name itself, by
   * their labels from right to left.
   */
  readonly below?: string | undefined
}

/**
 * The most registrations or changes that a store lists, releases or sweeps in one step, and the length of a page.
 * Larger work takes several steps, so no step holds the event loop or a lock for long.
 */
export const MOST_AT_ONCE = 1000

/**
 * Keeps teams and registrations. A store contains no rule of overlap: it looks up, calls `decide`, and saves. Your own
 * store needs `findTeam` and `register`; the other methods are optional, and `createManagedStore` provides most of
 * them.
 *
 * The key words MUST, SHOULD and MAY are those of RFC 2119. A store MUST reject (or throw) when it fails, and MUST NOT
 * resolve to anything that looks like success. It MUST treat every string as data.
 */
export interface DomainStore {
  /**
   * Finds a team.
   *
   * MUST resolve to `null` for a team that does not exist, whatever the digits; MUST reject when it cannot tell.
   *
   * @param teamId Digits only, of any length.
   */
  findTeam(teamId: string): Awaitable<Team | null>

  /**
   * Carries out the lookups of the request, passes the findings to `decide`, and saves the names that `decide` returns.
   *
   * - Looking up, deciding and saving MUST be one atomic step against every other `register` that shares a registrable
   *   domain: of two racing calls, the second sees what the first saved. Calls that share none SHOULD NOT wait for each
   *   other.
   * - If the request is `counted`, counting MUST be part of that step, and the step MUST be atomic against every other
   *   counted one of the same team too, whatever their registrable domains. A store that cannot count leaves `held`
   *   out: calls of teams with `maxDomains` then fail with 500, and nothing is saved.
   * - A name MUST be found whatever its registrable domain was when it was registered, and MUST be saved only once.
   * - All names that `decide` returned MUST be saved durably before this resolves, and none of them if it rejects.
   * - The request MUST NOT be changed. Any of its lists MAY be empty, and so may the result of `decide`.
   * - On a conflict with another call the store MAY look up and call `decide` again, a bounded number of times.
   * - New registrations MUST be saved with `synchronized: false` if there is a monitor, else `true`.
   * - The cost SHOULD depend on the length of the request alone, never on how much is registered.
   *
   * After a rejection, the core may call again with some of the names; after a lost response, the caller sends all
   * again.
   *
   * @returns The saved registrations, and the findings that `decide` used. The core checks all names against those.
   */
  register(request: RegistrationRequest): Awaitable<SavedRegistrations>

  /**
   * Pushes saved registrations to the monitor, and marks them synchronized.
   *
   * - It MUST mark a registration only after it was pushed, and MUST reject if any of them was not.
   * - Those that were pushed SHOULD be marked even if others were not.
   * - Delivery is at least once: the push MUST be idempotent on `domainId`.
   * - A store that also sweeps SHOULD lease to the call the registrations that `register` saves, and those of the team
   *   that it finds unsynchronized, so no sweep takes them before the call has had time to push them. If the process
   *   dies, a sweep MUST take them once the lease has expired.
   *
   * A store without this method has no monitor, or pushes on its own.
   *
   * @param registrations All registrations of one call, new and old, that are not synchronized; at least one.
   */
  synchronize?(registrations: readonly Registration[]): Awaitable<void>

  /**
   * Whether the store works in a transaction that your application commits later.
   *
   * - It MUST NOT push anything, and has no {@link synchronize}: calls leave what they save to a later sweep.
   * - An operation returns when the store has settled, even if its own time limit is shorter: your application may
   *   commit or roll back at once. So the store MUST settle in time by itself, and MUST NOT do anything afterwards.
   */
  readonly isInTransaction?: boolean

  /**
   * Looks up without registering. MUST find what {@link register} would find, and MUST change nothing: no lock that
   * outlasts the call, no lease.
   */
  find?(question: LookUp): Awaitable<LookUpResult>

  /**
   * Releases registrations of a team, so any team can register the names again.
   *
   * - All of them MUST be released in one atomic step, and durably before this resolves; none if it rejects.
   * - Names and IDs that the team has not registered MUST be skipped. A wildcard releases only itself.
   * - A release is a change too: it MUST be recorded in the same step, so that the next sweep tells the monitor.
   *
   * @param domains Names in any spelling that {@link classifyHostname} accepts, or values of `domainId`; at most 1,000.
   * @returns The released registrations, in any order.
   * @throws {TypeError} if `domains` is not an array of strings, or has more than 1,000.
   */
  release?(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>

  /**
   * Lists registrations page by page. The cost MUST depend on the page, never on how much is registered.
   *
   * @returns At most `limit`; fewer on the last page.
   * @throws {InvalidCursorError} for an `after` that this store cannot have returned.
   * @throws {TypeError} for an option that is wrong or does not exist, such as a `limit` above 1,000.
   */
  list?(options?: ListOptions): Awaitable<readonly ListedRegistration[]>

  /**
   * Saves registrations unchanged, for {@link importDomains}.
   *
   * - Looking up, deciding and saving MUST be one atomic step, as in {@link register}; all are saved or none.
   * - `domainId`, `domain`, `registrableDomain`, `teamId` and `createdAt` MUST be saved unchanged.
   * - A registration that is not synchronized MUST be recorded as a pending change that is due at once, even if the
   *   store has no push; a synchronized one MUST NOT be.
   *
   * @returns The findings that were passed to the call of `decide` whose registrations were saved.
   */
  import?(request: ImportRequest): Awaitable<ImportFindings>

  /**
   * Transfers registrations from one team to another, for {@link transfer}.
   *
   * - Looking up, deciding and saving MUST be one atomic step against every `register`, `release` and other transfer of
   *   the same names, and durable before this resolves; all are transferred or none.
   * - If the request is `counted`, the step MUST also be atomic against every other counted one of the team `to`.
   * - Each registration MUST get a new `domainId`: an ID belongs to one team permanently. Its name and registrable
   *   domain stay. Names and IDs that the team `from` has not registered MUST be skipped.
   * - The registration of the new ID and the release of the former one MUST be recorded as changes in the same step.
   *   The release MUST NOT be pushed before the registration, even after refusals and by any process, unless the new ID
   *   is released first. So the monitor always watches the name.
   *
   * @throws {TypeError} if `domains` is not an array of strings, or has more than 1,000.
   */
  transfer?(request: TransferRequest): Awaitable<TransferredRegistrations>

  /**
   * Counts registrations, of one team or of all. The cost grows with the count, so call it rarely. In SQLite, nothing
   * else runs in this process during the count.
   */
  count?(options?: { readonly teamId?: string | undefined }): Awaitable<number>
}
