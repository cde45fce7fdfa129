import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline, timeLimitRule } from '../deadline.ts'
import { harmless } from '../harmless.ts'
import { isFunction, optional, type Rules } from '../options.ts'
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

/** A change that was taken from a store to be pushed. */
export interface WaitingChange extends Change {
  /** How often a sweep has had it refused alone. */
  readonly refusals: number
  /** Tells the lease from any later one of the same change: for example when it ends, by the store's clock. */
  readonly lease: number
}

/** A change that is to be tried again. */
export interface Postponement {
  readonly change: Change
  /** Of the {@link WaitingChange}; `null` for the first lease of a registration, which the call has that saved it. */
  readonly lease: number | null
  /** Milliseconds until it is due. */
  readonly wait: number
  /** Whether it counts as one of its {@link WaitingChange.refusals}. */
  readonly isRefusal: boolean
}

/**
 * The changes that wait in a store, each call one atomic step. A `domainId` has at most one: that it was registered,
 * until that is done, or that it was released. Where both would wait, the release stands in place of the registration.
 *
 * A change is due at a time. To lease it is to put that time off, so that nobody else takes it meanwhile:
 *
 * - `register` MUST save its registrations leased, and MUST lease those of its own team that it finds unsynchronized,
 *   but for those that wait longer anyway: the call pushes them itself. Should its process die, a sweep takes them when
 *   the lease ends.
 * - A release MUST be recorded in the step that releases. It is due at once if the registration was synchronized, and
 *   else after one lease, so that it does not overtake a push of the registration that is under way.
 */
export interface Outbox {
  /**
   * MUST take changes that are due and lease them, at most `limit`: first those that have been due the longest, or that
   * were taken the longest ago. Else what is refused again and again keeps newer changes waiting for ever.
   *
   * @param lease In milliseconds.
   */
  take(limit: number, lease: number): Awaitable<readonly WaitingChange[]>
  /**
   * MUST end what was pushed: a registration is synchronized, a release is forgotten. Where a release has come in place
   * of a registration meanwhile, that is kept, and due at once.
   *
   * Whoever holds the lease by now: the monitor knows of the change, and that stays so. No later change can be lost, as
   * the only one of a `domainId` is its release, which is of another kind.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /**
   * MUST put changes off that still wait under the lease that is named, in one step with looking: what has been leased
   * again is with somebody else, who would share it with the next sweep.
   */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
}

export interface SynchronizerOptions {
  /** The host's push. */
  readonly push: (changes: readonly Change[]) => Awaitable<unknown>
  /** Milliseconds for each push. */
  readonly timeLimit: number
  readonly onError?: SynchronizationErrorHandler | undefined
  /** From 0 to 1. Default `Math.random`. */
  readonly random?: () => number
}

/**
 * The registrations that a call pushes although it did not make them: those of its team, found unsynchronized, that are
 * among its own names. A wildcard that only covers one of them is not: it would stay leased for as long as calls come.
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
/**
 * For all pushes of a call or a sweep. Each may take half of what is left, so that one that hangs leaves time for
 * others.
 */
const pushingTime = (timeLimit: number) => 2 * timeLimit
/** How long a change stays with who took it: longer than that one pushes. 90 seconds by default. */
export const leaseFor = (timeLimit: number) => 3 * timeLimit
/** The wait after the first failure, which doubles with each refusal. 5 seconds by default. */
const firstWait = (timeLimit: number) => timeLimit / 6
/** Milliseconds that a change waits at most. */
const LONGEST_WAIT = 3_600_000
const DEFAULT_SWEEP_LIMIT = 1_000

/** The options about synchronizing, which all bundled stores have. */
export const synchronizationRules: Rules = {
  synchronize: { holds: optional(isFunction), expected: 'a function that takes a list of changes' },
  synchronizeTimeLimit: timeLimitRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error and a change' },
}

/**
 * Makes what a store does to synchronize, over its {@link Outbox}. One change that the monitor refuses delays no other:
 * a push that fails is split until what fails is alone, see {@link splitUntilAlone}. What is refused alone is tried
 * again later and later; while the monitor is away, nothing is held against any change. n changes cost at most 2 n − 1
 * pushes.
 */
export function createSynchronizer(
  { push, timeLimit, onError, random = Math.random }: SynchronizerOptions,
  outbox: Outbox,
) {
  /** What was refused alone since anything went through in a sweep: a monitor that is away, or many refusals. */
  const refusedSince = new Set<string>()

  /** @returns Longer with each refusal, up to a bound, and never the same for all that failed together. */
  const waitAfter = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)
  const putOff = { wait: firstWait(timeLimit), isRefusal: false } as const

  return {
    /**
     * Pushes the registrations of a call, which are leased to it.
     *
     * @throws what the push failed with, if anything did not go through. All the rest is synchronized.
     */
    async synchronize(registrations: readonly Registration[]): Promise<void> {
      const changes = registrations.map(registration => toChange(registration, 'registered'))
      const deadline = createDeadline(pushingTime(timeLimit))
      const { synchronized, refused, untried, lastCause } = await pushAndFinish(changes, [], { push, outbox, deadline })
      const failed = [...refused.map(({ item }) => item), ...untried]
      if (failed.length === 0) return
      if (synchronized > 0) tell(refused, onError)
      // The caller tries again, and is not told apart from a monitor that is away: only sweeps count refusals.
      await outbox.postpone(failed.map(change => ({ change, lease: null, ...putOff })))
      throw refused.length > 0 ? (refused[0] as Refusal<Change>).cause : lastCause
    },

    /** Pushes what is due. */
    async synchronizePending(options: SweepOptions = {}): Promise<SweepResult> {
      // Begun before, so that no push goes on for longer than the lease, however late the answer comes.
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
        harmless(report)(lastCause ?? new Error('There was no time for a push'))
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
  /** For all pushes together. */
  readonly deadline: Deadline
}

/** Pushes changes that are leased to the caller, and ends what goes through. */
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
 * What looks like a monitor that is away may be many changes that it refuses, in the way of a few others. So after such
 * a sweep the next one first tries some changes alone that were not yet, until one goes through. Where each of them
 * was, it begins anew: the monitor may have been away for some of them.
 */
function chooseProbes<Item extends Change>(changes: readonly Item[], refused: Set<string>): readonly Item[] {
  if (refused.size === 0) return []
  if (changes.every(({ domainId }) => refused.has(domainId))) {
    for (const { domainId } of changes) refused.delete(domainId)
  }
  return changes.filter(({ domainId }) => !refused.has(domainId)).slice(0, maxFailures(changes.length))
}

/** In milliseconds; timers count no less. */
const SHORTEST_WAIT = 1

function tell(refused: readonly Refusal<Change>[], onError: SynchronizationErrorHandler | undefined): void {
  for (const { item, cause } of refused) harmless(onError)(cause, toChange(item, item.kind))
}

/** Without what is a store's own. */
export function toChange(
  { domainId, domain, registrableDomain, teamId }: Omit<Change, 'kind'>,
  kind: Change['kind'],
): Change {
  return { kind, domainId, domain, registrableDomain, teamId }
}
