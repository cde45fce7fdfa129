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
  /** Whether what does the monitoring knows of it. */
  readonly synchronized: boolean
}

/**
 * A change that what does the monitoring has to follow.
 *
 * A host that watches by `domainId`, and ignores `registered` once it has seen `released`, is right whatever is
 * delivered twice or late: IDs are never used again.
 */
export interface Change extends Name {
  readonly kind: 'registered' | 'released'
  readonly domainId: string
  readonly teamId: string
}

/** Which registrations to list. */
export interface ListOptions {
  /** Those of one team. Default: all. */
  teamId?: string | undefined
  /** The `domainId` of the last registration of the page before. Default: from the first. */
  after?: string | undefined
  /** How many at most. Default 1,000. */
  limit?: number | undefined
}

export const DEFAULT_PAGE_SIZE = 1000

/** What came of a sweep. */
export interface SweepResult {
  /** How many changes went through. */
  readonly synchronized: number
  /** How many did not, and are tried again later. */
  readonly failed: number
}

/** How much a sweep pushes, and who learns of what it cannot push. */
export interface SweepOptions {
  /** How many changes to push at most. Default 1,000. */
  limit?: number | undefined
  /** Learns of failures in place of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
}

/**
 * Learns of each change that the monitor refused when it was pushed alone; of a monitor with which nothing goes
 * through, once a sweep and without a change. For logs: what it throws is ignored, and so is a promise of it that is
 * rejected.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

/**
 * What is registered below the base of a wildcard, at any depth, in the same registrable domain; not the base itself.
 * Whether the wildcard over the base counts is all the same: it is among `names`.
 */
export interface Below {
  /** Three domains of the asking team, whichever, or as many as there are. */
  readonly ownDomains: readonly string[]
  /** How many the asking team has. A store MAY stop counting at {@link COUNTED_AT_LEAST}, but not before. */
  readonly ownCount: number
  /** Whether another team has any. A store need not look where `ownCount` is not 0. */
  readonly heldByOthers: boolean
}

/** What is below a base that nobody holds anything below. */
export const NOTHING_BELOW: Below = Object.freeze({ ownDomains: [], ownCount: 0, heldByOthers: false })

/** Up to here a store counts {@link Below.ownCount}, at least. */
export const COUNTED_AT_LEAST = 1000

/** What a store found for a {@link RegistrationRequest}. */
export interface Found {
  /** The registrations, of any team, whose domain is in `names`. In any order. */
  readonly registrations: readonly Registration[]
  /** One for each of `wildcardBases`, in that order. */
  readonly below: readonly Below[]
}

/** What {@link DomainStore.register} did in its atomic step. */
export interface Registered {
  /** What was handed to the call of `decide` whose names were saved. */
  readonly found: Found
  /** The saved registrations, in the order in which that call of `decide` returned their names. */
  readonly saved: readonly Registration[]
}

/** What {@link DomainStore.register} is asked to do in one atomic step. Everything in it is a look-up by key. */
export interface RegistrationRequest {
  readonly teamId: string
  /**
   * What to lock: distinct, in ascending order of code units, so that two calls never wait for each other in a circle.
   */
  readonly registrableDomains: readonly string[]
  /** Exact look-ups, distinct: the submitted names, and every wildcard that could cover one. */
  readonly names: readonly Name[]
  /** For each submitted wildcard its base as `domain`, distinct: what is registered below it? */
  readonly wildcardBases: readonly Name[]
  /**
   * Decides what to save. Pure and synchronous: the same findings give the same names, and nothing depends on how often
   * it is called. A store may call it again with fresher findings.
   *
   * @returns Names to register for the team; distinct, none of them among those found.
   */
  decide(found: Found): readonly Name[]
}

/**
 * Where teams and registrations live. A store knows no rule of overlap: it looks up, calls `decide`, saves.
 *
 * The key words MUST, SHOULD and MAY are those of RFC 2119. A store MUST reject (or throw) when it cannot do what it is
 * asked, and MUST NOT resolve to something that looks like success. It MUST treat every string as data.
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
   * Looks up what the request names, hands it to `decide`, and saves what `decide` returns.
   *
   * - The look-up, the decision and the saving MUST be one atomic step against every other `register` that shares a
   *   registrable domain: of two racing calls, the second sees what the first saved. Calls that share none SHOULD NOT
   *   wait for each other.
   * - Everything that `decide` returned MUST be saved durably before this resolves, or nothing of it when it rejects.
   * - The request and what is in it MUST NOT be changed. Any of its lists MAY be empty, as may what `decide` returns.
   * - On a conflict with another call the store MAY look up and call `decide` again, a bounded number of times.
   * - New registrations MUST be saved with `synchronized: false` if the store has {@link synchronize} or
   *   {@link synchronizesLater}, else `true`.
   * - The cost SHOULD depend on the length of the request alone, never on how much is registered.
   *
   * A call that rejected may be made again with a part of the same names; one whose answer was lost, as a whole.
   *
   * @returns What was saved, and what `decide` was told when it chose that. The core judges every name of the call by
   *   it.
   */
  register(request: RegistrationRequest): Awaitable<Registered>

  /**
   * Pushes saved registrations to what does the monitoring, and marks them synchronized.
   *
   * - It MUST mark a registration only after the push went through, and MUST reject if any of them was not pushed.
   * - Those that went through SHOULD be marked even if others did not.
   * - Delivery is at least once: the push MUST be idempotent on `domainId`.
   * - A store that also sweeps SHOULD lease what `register` saves, and what it finds unsynchronized of the team's own,
   *   to the call: no sweep takes it until the call has had its time to push. If the process dies, a sweep MUST take it
   *   once the lease has ended.
   *
   * A store without this method has nothing to push to, or pushes on its own.
   *
   * @param registrations All registrations of one call, new and old, that are not synchronized; at least one.
   */
  synchronize?(registrations: readonly Registration[]): Awaitable<void>

  /**
   * Whether what this store saves is left to a sweep: calls neither push nor wait for a push. For a store within a
   * transaction that its host has still to commit, which MUST NOT push anything itself, and has no {@link synchronize}.
   */
  readonly synchronizesLater?: boolean
}
