import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline, timeLimitRule } from '../deadline.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { isFunction, optional, type Rules } from '../options.ts'
import { requireSweepOptions } from './host-arguments.ts'
import { baseOf, isWildcard } from './name.ts'
import { maxFailures, type Refusal, splitUntilAlone } from './split.ts'
import type {
  Change,
  Found,
  Registration,
  RegistrationRequest,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
} from './store.ts'

/** A change that a sweep has taken from a store in order to push it. */
export interface WaitingChange extends Change {
  /** How often the monitor has refused it when a sweep pushed it alone. */
  readonly refusals: number
  /** Identifies this lease among all leases of the change: for example the time when it ends, by the store's clock. */
  readonly lease: number
}

/** A change to try again later. */
export interface Postponement {
  readonly change: Change
  /** The lease of the {@link WaitingChange}; `null` for the first one, held by the call that saved the registration. */
  readonly lease: number | null
  /** Milliseconds until the change is due. */
  readonly wait: number
  /** Whether to add one to its {@link WaitingChange.refusals}. */
  readonly isRefusal: boolean
}

/**
 * The changes that wait in a store to be pushed. Each method is one atomic step. A `domainId` has at most one waiting
 * change: its registration or its release. A release replaces a registration that still waits.
 *
 * Each change has a time at which it is due. A lease moves that time into the future, so that nobody else takes the
 * change meanwhile:
 *
 * - `register` MUST lease the registrations that it saves, and those of its own team that it finds unsynchronized,
 *   unless they are due even later: the call pushes them itself. If its process dies, a sweep takes them when the lease
 *   ends.
 * - A release MUST be recorded in the step that releases. It is due at once if the registration was synchronized.
 *   Otherwise it is due after one lease, so that it cannot overtake a push of the registration.
 */
export interface Outbox {
  /**
   * MUST lease changes that are due, at most `limit`, and return them: first those that have been due the longest, or
   * that were taken the longest ago. Otherwise changes that are refused again and again would block newer ones.
   *
   * @param lease In milliseconds.
   */
  take(limit: number, lease: number): Awaitable<readonly WaitingChange[]>
  /**
   * MUST mark pushed registrations as synchronized, and forget pushed releases. If a release has replaced a pushed
   * registration meanwhile, the release stays, and is due at once.
   *
   * The lease does not matter here, since the monitor knows of the change by now, whoever holds the lease. No later
   * change can get lost: the only one that can follow a registration is its release, which is of another kind.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /**
   * MUST postpone changes, but only those whose lease is still the given one, in one atomic step (compare-and-set). A
   * change that was leased again is being pushed by somebody else.
   */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
}

export interface SynchronizerOptions {
  /** The host's push. */
  readonly push: (changes: readonly Change[]) => Awaitable<unknown>
  /** Milliseconds for each push. */
  readonly timeLimit: number
  readonly onError?: SynchronizationErrorHandler | undefined
  /** Returns a number from 0 up to 1, for jitter. Default `Math.random`. */
  readonly random?: () => number
}

/**
 * The registrations that a call pushes although an earlier call made them: those of its team that are still
 * unsynchronized and that it names itself. A wildcard that only covers one of its names is left to the sweep: calls
 * would renew its lease again and again.
 */
export function unsynchronizedOf(
  { teamId, wildcardBases }: RegistrationRequest,
  found: Found,
): readonly Registration[] {
  return found.registrations.filter(
    registration =>
      !registration.synchronized &&
      registration.teamId === teamId &&
      (!isWildcard(registration) || wildcardBases.some(base => base.domain === baseOf(registration))),
  )
}

/** Milliseconds for each push, by default. Leases and waits follow from it. */
export const DEFAULT_SYNCHRONIZE_TIME_LIMIT = 30_000
/** The time for all pushes of a call or a sweep. Each push may take half of the rest, so that one can hang. */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** The length of a lease: longer than its holder may push. 90 seconds by default. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The backoff after the first failure; it doubles with each refusal. 5 seconds by default. */
const firstWait = (timeLimit: number) => timeLimit / 6
/** The longest backoff, in milliseconds. */
const LONGEST_WAIT = 3_600_000
const DEFAULT_SWEEP_LIMIT = 1_000

/** The options for synchronizing that all bundled stores have. */
export const synchronizationRules: Rules = {
  synchronize: { holds: optional(isFunction), expected: 'a function that takes a list of changes' },
  synchronizeTimeLimit: timeLimitRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error and a change' },
}

/**
 * Makes the synchronizing methods of a store from its {@link Outbox}. A change that the monitor refuses delays no
 * other: a push that fails is split until each failing change is alone, see {@link splitUntilAlone}. Such a change is
 * retried with exponential backoff. While the monitor is away, failures count as refusals of no change. n changes cost
 * at most 2 n − 1 pushes.
 */
export function createSynchronizer(
  { push, timeLimit, onError, random = Math.random }: SynchronizerOptions,
  outbox: Outbox,
) {
  /** The changes that failed alone since a sweep last pushed anything; see {@link chooseProbes}. */
  const refusedSince = new Set<string>()

  /** Exponential backoff with jitter, so that changes that failed together do not come back together. */
  const waitAfter = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)
  const putOff = { wait: firstWait(timeLimit), isRefusal: false } as const

  return {
    /**
     * Pushes the registrations of a call, which are leased to it.
     *
     * @throws the failure of the push, if any registration was not pushed. The others are marked all the same.
     */
    async synchronize(registrations: readonly Registration[]): Promise<void> {
      const changes = registrations.map(registration => toChange(registration, 'registered'))
      const deadline = createDeadline(pushingTime(timeLimit))
      const { synchronized, refused, untried, lastCause } = await pushAndFinish(changes, [], { push, outbox, deadline })
      const failed = [...refused.map(({ item }) => item), ...untried]
      if (failed.length === 0) return
      if (synchronized > 0) tell(refused, onError)
      // No refusal is counted: the caller retries, and its calls must not lengthen the backoff. Only sweeps count.
      await outbox.postpone(failed.map(change => ({ change, lease: null, ...putOff })))
      throw refused.length > 0 ? (refused[0] as Refusal<Change>).cause : lastCause
    },

    /** Pushes the changes that are due: one sweep. */
    async synchronizePending(options: SweepOptions = {}): Promise<SweepResult> {
      requireSweepOptions(options)
      // Started before the changes are taken: however late the store answers, no push outlasts the lease.
      const leased = createDeadline(leaseFor(timeLimit))
      const changes = await outbox.take(options.limit ?? DEFAULT_SWEEP_LIMIT, leaseFor(timeLimit))
      const deadline = createDeadline(Math.min(pushingTime(timeLimit), leased.remaining()))
      const probes = chooseProbes(changes, refusedSince)
      const pushed = await pushAndFinish(changes, probes, { push, outbox, deadline })
      const { synchronized, refused, untried, lastCause, isAway } = pushed
      if (synchronized > 0) refusedSince.clear()
      if (isAway) for (const { item } of refused) refusedSince.add(item.domainId)
      const report = options.onError ?? onError
      if (untried.length > 0) {
        ignoreErrors(report)(lastCause ?? new Error('There was no time for a push'))
        const failed = isAway ? [...refused.map(({ item }) => item), ...untried] : untried
        await outbox.postpone(failed.map(change => ({ change, lease: change.lease, ...putOff })))
      }
      if (refused.length > 0 && !isAway) {
        tell(refused, report)
        await outbox.postpone(
          refused.map(({ item }) => ({
            change: item,
            lease: item.lease,
            wait: waitAfter(item.refusals),
            isRefusal: true,
          })),
        )
      }
      return { synchronized, failed: refused.length + untried.length }
    },
  }
}

interface Pushing {
  readonly push: SynchronizerOptions['push']
  readonly outbox: Outbox
  /** The deadline of all pushes together. */
  readonly deadline: Deadline
}

/** Pushes changes that the caller has leased, and finishes those that were pushed. */
async function pushAndFinish<Item extends Change>(
  changes: readonly Item[],
  probes: readonly Item[],
  { push, outbox, deadline }: Pushing,
) {
  let storeFailure: { readonly cause: unknown } | undefined
  let synchronized = 0
  const { refused, untried, lastCause } = await splitUntilAlone(changes, {
    async attempt(part) {
      await deadline.wait(push(part.map(change => toChange(change, change.kind))), deadline.remaining() / 2)
      try {
        await outbox.finish(part)
        synchronized += part.length
      } catch (cause) {
        storeFailure = { cause }
      }
    },
    hasTime: () => !storeFailure && deadline.remaining() >= SHORTEST_WAIT,
    probes,
  })
  if (storeFailure) throw storeFailure.cause
  return { synchronized, refused, untried, lastCause, isAway: synchronized === 0 && untried.length > 0 }
}

/**
 * Chooses the changes that a sweep pushes alone, before the others together. A monitor that seems to be away may in
 * fact refuse many changes, which stand before a few good ones. So the sweep after such a one probes changes that have
 * not been pushed alone yet. Once all of them have been, it starts over: the monitor may really have been away.
 */
function chooseProbes<Item extends Change>(changes: readonly Item[], refused: Set<string>): readonly Item[] {
  if (refused.size === 0) return []
  if (changes.every(({ domainId }) => refused.has(domainId))) {
    for (const { domainId } of changes) refused.delete(domainId)
  }
  return changes.filter(({ domainId }) => !refused.has(domainId)).slice(0, maxFailures(changes.length))
}

/** In milliseconds, the resolution of timers. */
const SHORTEST_WAIT = 1

function tell(refused: readonly Refusal<Change>[], onError: SynchronizationErrorHandler | undefined): void {
  for (const { item, cause } of refused) ignoreErrors(onError)(cause, toChange(item, item.kind))
}

/** Copies the public fields of a change; those of the store stay behind. */
export function toChange(
  { domainId, domain, registrableDomain, teamId }: Omit<Change, 'kind'>,
  kind: Change['kind'],
): Change {
  return { kind, domainId, domain, registrableDomain, teamId }
}
