import type { Awaitable } from '../awaitable.ts'
import type { Name } from './name.ts'

/** A team, as the host knows it. */
export interface Team {
  /** Digits only. */
  readonly id: string
  readonly organizationId: string
  readonly state: 'active' | 'suspended'
}

/** A registered hostname. */
export interface Registration extends Name {
  /** Opaque and unique; the store makes it, and it never changes. */
  readonly domainId: string
  readonly teamId: string
  /** Whether the monitor knows of it. */
  readonly synchronized: boolean
}

/**
 * A change that the host's monitor has to follow.
 *
 * A change may be delivered twice or late. A monitor that watches by `domainId`, and ignores `registered` for an ID
 * after `released`, is right all the same: IDs are never reused.
 */
export interface Change extends Name {
  readonly kind: 'registered' | 'released'
  readonly domainId: string
  readonly teamId: string
}

/** Which registrations to list. */
export interface ListOptions {
  /** Lists only this team's. Default: those of all teams. */
  teamId?: string | undefined
  /** The `domainId` of the last registration of the page before. Default: from the first. */
  after?: string | undefined
  /** The length of a page. Default 1,000. */
  limit?: number | undefined
}

export const DEFAULT_PAGE_SIZE = 1000

/** The result of a sweep. */
export interface SweepResult {
  /** How many changes were pushed. */
  readonly synchronized: number
  /** How many were not, and will be retried. */
  readonly failed: number
}

/** Options of a sweep. */
export interface SweepOptions {
  /** The most changes to push. Default 1,000. */
  limit?: number | undefined
  /** Called in place of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
}

/**
 * Called with each change that the monitor refused when it was pushed alone. If the monitor is away, called once a
 * sweep, without a change. For logs: what it throws or rejects with is ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

/**
 * The registrations below the base of a wildcard, at any depth, in the same registrable domain, without the base
 * itself. The wildcard over the base may be counted or not: the request looks it up among `names` as well.
 */
export interface Below {
  /** Any three domains of the asking team; fewer if it holds fewer. */
  readonly ownDomains: readonly string[]
  /** How many the asking team holds. A store MAY stop counting at 1,000, but not before. */
  readonly ownCount: number
  /** Whether another team holds any. A store need not look if `ownCount` is not 0. */
  readonly heldByOthers: boolean
}

/** For a base with no registrations below it. */
export const NOTHING_BELOW: Below = /* @__PURE__ */ Object.freeze({ ownDomains: [], ownCount: 0, heldByOthers: false })

/** A store counts {@link Below.ownCount} at least up to here. */
export const COUNTED_AT_LEAST = 1000

/** The answer to the look-ups of a {@link RegistrationRequest}. */
export interface Found {
  /** The registrations, of any team, whose domain is in `names`. In any order. */
  readonly registrations: readonly Registration[]
  /** One for each of `wildcardBases`, in that order. */
  readonly below: readonly Below[]
}

/** The result of {@link DomainStore.register}. */
export interface Registered {
  /** The findings that were passed to the call of `decide` whose names were saved. */
  readonly found: Found
  /** The saved registrations, in the order in which that call returned their names. */
  readonly saved: readonly Registration[]
}

/** What {@link DomainStore.register} has to do in one atomic step. Every look-up is by key. */
export interface RegistrationRequest {
  readonly teamId: string
  /**
   * The registrable domains to lock: distinct, in ascending order of code units, so that two calls cannot deadlock.
   */
  readonly registrableDomains: readonly string[]
  /** The names to look up exactly, distinct: the submitted ones, and every wildcard that could cover one. */
  readonly names: readonly Name[]
  /** The bases below which to look, distinct: for each submitted wildcard, its base as `domain`. */
  readonly wildcardBases: readonly Name[]
  /**
   * Decides what to save. Pure and synchronous: the same findings give the same names. A store may call it any number
   * of times, each time with fresher findings.
   *
   * @returns The names to register for the team; distinct, and none of them among those found.
   */
  decide(found: Found): readonly Name[]
}

/**
 * Where teams and registrations are kept. A store knows no rule of overlap: it looks up, calls `decide`, saves.
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
   * Looks up what the request asks for, passes it to `decide`, and saves the names that `decide` returns.
   *
   * - Looking up, deciding and saving MUST be one atomic step against every other `register` that shares a registrable
   *   domain: of two racing calls, the second sees what the first saved. Calls that share none SHOULD NOT wait for each
   *   other.
   * - All names that `decide` returned MUST be saved durably before this resolves, and none of them if it rejects.
   * - The request MUST NOT be changed. Any of its lists MAY be empty, and so may the result of `decide`.
   * - On a conflict with another call the store MAY look up and call `decide` again, a bounded number of times.
   * - New registrations MUST be saved with `synchronized: false` if the store has {@link synchronize} or
   *   {@link synchronizesLater}, else `true`.
   * - The cost SHOULD depend on the length of the request alone, never on how much is registered.
   *
   * After a rejection the core may call again with some of the names; after a lost answer the caller sends all again.
   *
   * @returns The saved registrations, and the findings that `decide` chose them by. The core judges all names by those.
   */
  register(request: RegistrationRequest): Awaitable<Registered>

  /**
   * Pushes saved registrations to the monitor, and marks them synchronized.
   *
   * - It MUST mark a registration only after it was pushed, and MUST reject if any of them was not.
   * - Those that were pushed SHOULD be marked even if others were not.
   * - Delivery is at least once: the push MUST be idempotent on `domainId`.
   * - A store that also sweeps SHOULD lease to the call the registrations that `register` saves, and those of the team
   *   that it finds unsynchronized: no sweep takes them before the call has had time to push them. If the process dies,
   *   a sweep MUST take them once the lease has ended.
   *
   * A store without this method has no monitor, or pushes on its own.
   *
   * @param registrations All registrations of one call, new and old, that are not synchronized; at least one.
   */
  synchronize?(registrations: readonly Registration[]): Awaitable<void>

  /**
   * Leaves registrations to a sweep: calls neither push them nor wait for a push. For a store inside a transaction that
   * its host has yet to commit; such a store MUST NOT push anything, and has no {@link synchronize}.
   */
  readonly synchronizesLater?: boolean
}
