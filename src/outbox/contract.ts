import { createBrand } from '../errors/brand.ts'
import { isFunction, optional, type Rule } from '../options.ts'
import type { Change, Registration } from '../rules/registration.ts'
import type { Awaitable } from '../time/awaitable.ts'

/** A change that {@link Outbox.take} has leased. */
export interface LeasedChange extends Change {
  /** The line in which the change waits, or from which it was taken. */
  readonly line: Line
  /** How often the monitor has refused the change. */
  readonly refusals: number
}

/**
 * The line in which a change waits; see {@link lineOf}. The table of lines in `policy.ts` says what sweeps do with each
 * line.
 */
export type Line = 'new' | 'failed' | 'refused'

/** From this many sweeps on, a change that no sweep has delivered has failed. */
export const MOST_SWEEPS_AS_NEW = 3

/**
 * Returns the line in which a change waits.
 *
 * @param change `sweeps`: how many sweeps have taken the change. `refusals`: how often the monitor has refused it.
 *
 * @example
 * lineOf({ sweeps: 0, refusals: 0 }) // 'new'
 */
export const lineOf = ({ sweeps, refusals }: { readonly sweeps: number; readonly refusals: number }): Line =>
  refusals > 0 ? 'refused' : sweeps < MOST_SWEEPS_AS_NEW ? 'new' : 'failed'

/** The changes that a sweep asks for; see {@link Outbox.take}. */
export interface TakeRequest {
  /** The lines in the order in which the sweep wants them, and the maximum number of changes of each, at least 1. */
  readonly lines: readonly { readonly line: Line; readonly limit: number }[]
  /** For how many milliseconds the changes are leased. */
  readonly lease: number
  /** Decides which team comes first: a random number from 0 to 1 (exclusive). */
  readonly lot: number
}

/** A change to retry later. */
export interface Postponement {
  readonly change: Change
  /** Milliseconds until the change is due. */
  readonly wait: number
  /**
   * Why the push failed. Replaces the saved reason of an earlier failure. `undefined` if no push failed: the saved
   * reason then stays.
   */
  readonly failure?: string | undefined
  /** How often the monitor has refused the change, as far as the caller knows. The larger number is kept. */
  readonly refusals: number
}

/** Figures about the pending changes. */
export interface PendingStats {
  readonly count: number
  /** How many of the pending changes the monitor has refused at least once. */
  readonly refused: number
  /** Since when the oldest change has been pending; `null` if no change is pending. */
  readonly oldest: Date | null
  /** Of the refused changes, the one that has been pending the longest; `null` if no change is refused. */
  readonly longestRefused: PendingChange | null
}

/** A pending change in a list. */
export interface PendingChange extends LeasedChange {
  /** When a sweep will push the change, if no push of the change is under way. */
  readonly nextAttempt: Date
  /** The error with which the last push failed, shortened. `null` if no push failed. */
  readonly lastFailure: string | null
}

/**
 * The outbox: the pending changes of a store. Each method is one atomic step. Each `domainId` has at most one pending
 * change: its registration or its release. A release replaces a registration that is still pending.
 *
 * When a registration is transferred, the release of its former ID follows the registration of its new ID. If the new
 * registration is transferred while it is pending, the release follows the registration of the next ID instead.
 *
 * Each change has a time at which it becomes due. A lease only delays the due time of a change, so no other process
 * pushes the change until the lease expires. If a lease expires too early, the change is pushed twice. Pushing twice is
 * allowed, because delivery is at least once.
 */
export interface Outbox {
  /**
   * MUST lease due changes of the first of these lines in which any are due, at most as many as the limit of that line,
   * and return them. MUST count for each of them one more sweep that has taken it. The count decides in which line a
   * change waits; see {@link lineOf}. It is raised before the push, so a change whose process dies during the push does
   * not stay new forever.
   *
   * Teams MUST take turns: however many changes one team has, another team's changes are not left out. Of each team,
   * the changes that have been due the longest MUST come first. {@link inTurns} chooses this way. A hundred teams with
   * a due change are enough, if one of them has the change that has been due the longest.
   *
   * A release that follows a registration MUST be left out while that registration is pending, and SHOULD cost a sweep
   * nothing meanwhile: whatever ends the registration (`finish`, `settle`, its release) lets the release go. A change
   * whose due time is more than an hour plus a lease ahead MUST count as due: no wait is that long, so a clock was
   * wrong when the change was postponed.
   */
  take(request: TakeRequest): Awaitable<readonly LeasedChange[]>
  /**
   * MUST delete the pushed changes, except those whose kind has changed since they were leased. If a release has
   * replaced a pushed registration in the meantime, the release stays and becomes due at once.
   */
  finish(changes: readonly Change[]): Awaitable<unknown>
  /**
   * MUST postpone changes, except those whose kind has changed since they were leased. MUST also save the reason for
   * each failure, and MUST raise the number of refusals to `refusals`.
   */
  postpone(postponements: readonly Postponement[]): Awaitable<unknown>
  /**
   * MUST make a change due only if its push failed: the first push of any other change may be under way.
   *
   * @param domainIds Default: all.
   * @returns How many changes became due. One that was due already may count.
   */
  retry(domainIds?: readonly string[]): Awaitable<number>
  /**
   * MUST delete the pending changes with these IDs, whether or not they are leased, as if the monitor had accepted
   * them.
   *
   * @returns How many changes were deleted.
   */
  settle(domainIds: readonly string[]): Awaitable<number>
  stats(): Awaitable<PendingStats>
  /** Lists at most `limit` changes in order of `domainId`, after the given ID. */
  list(after: string | undefined, limit: number): Awaitable<readonly PendingChange[]>
}

/** An {@link Outbox} with the methods that its store uses within the atomic steps of calls. */
export interface StoreOutbox extends Outbox {
  /**
   * Records a change that is due after `wait` milliseconds, in place of a pending change with the same ID. The `at` of
   * a release is the current time; the `at` of a registration is its `createdAt`.
   */
  add(registration: Registration, kind: Change['kind'], wait: number): void
  /**
   * Records a transfer as two changes. The new registration is due at once. The release of the former registration
   * follows the new registration, and is due after `wait` milliseconds. If the former registration is pending, the two
   * changes replace it.
   */
  transfer(former: Registration, registration: Registration, wait: number): void
  /** Leases pending registrations, except any that are not yet due when the lease ends. */
  lease(registrations: readonly Registration[], lease: number): void
}

/**
 * Your function that pushes changes to the monitor. The function must reject if any change failed. After a rejection,
 * the changes are retried in smaller parts.
 */
export interface Push {
  /** @param context `signal` aborts when the result is no longer needed. */
  (changes: readonly Change[], context: { readonly signal: AbortSignal }): Awaitable<unknown>
  /**
   * The maximum number of changes in one push, if the store has no option `batchSize`. {@link createWebhook} sets this
   * property.
   */
  readonly batchSize?: number | undefined
}

/**
 * Thrown by your push if the monitor is unavailable. If the monitor refuses a change, throw any other error. If the
 * error has `retryAfter`, the changes of this push wait that long. A sweep ends after a few errors in a row, but not
 * after one, because a gateway may respond to a single bad change as if the monitor were unavailable. If nothing is
 * delivered, the changes stay pending, and do not count as refused.
 *
 * @example
 * const { status } = await fetch(url, { method: 'POST' })
 * if (status === 503) throw new MonitorUnavailableError(`The monitor returned ${status}`)
 */
export class MonitorUnavailableError extends Error {
  override readonly name = 'MonitorUnavailableError'
  /** Milliseconds after which to retry, if the monitor specified a time. */
  readonly retryAfter: number | undefined

  constructor(message: string, { retryAfter, ...options }: ErrorOptions & { retryAfter?: number | undefined } = {}) {
    super(message, options)
    this.retryAfter = retryAfter
    unavailable.put(this)
  }
}

const unavailable = createBrand<MonitorUnavailableError>('MonitorUnavailableError')
export const isMonitorUnavailable = (error: unknown) => unavailable.isOn(error)

/**
 * Called for each change that the monitor refused when it was pushed alone. Also called once, without a change, if a
 * sweep ends early because pushes fail. The handler is meant for logs: its errors and rejections are ignored.
 */
export type SynchronizationErrorHandler = (error: unknown, change?: Change) => unknown

export const onErrorRule: Rule = {
  holds: optional(isFunction),
  expected: 'a function that takes an error and a change',
}

/** Options of a sweep. */
export interface SweepOptions {
  /** The maximum number of changes to push. At most 1,000, which is the default. */
  limit?: number | undefined
  /** Called instead of the store's own `onError`. */
  onError?: SynchronizationErrorHandler | undefined
  /**
   * Ends the sweep when this signal aborts: the current push is aborted, and unpushed changes are left to the next
   * sweep.
   */
  signal?: AbortSignal | undefined
}

/** The result of a sweep. */
export interface SweepResult {
  /** How many changes were pushed. */
  readonly synchronized: number
  /** How many changes were pushed in vain, and will be retried. */
  readonly failed: number
  /**
   * Set if the monitor reported that it is unavailable. `retryAfter` is the number of milliseconds, if the monitor
   * specified a time.
   */
  readonly unavailable?: { readonly retryAfter: number | undefined }
}

/**
 * Chooses which of the due changes of a line a sweep takes. Teams take turns: the first change of each team comes
 * before the second one of any team. The result is ordered by team. So if a push of it fails because of one team, the
 * halves of that push separate the teams.
 *
 * @param due In the order in which they became due.
 * @param lot If not all teams get a turn, decides which do; see {@link TakeRequest}.
 *
 * @example
 * const due = [{ teamId: '1', domain: 'a.com' }, { teamId: '1', domain: 'b.com' }, { teamId: '2', domain: 'c.com' }]
 * inTurns(due, 2, 0) // a.com and c.com
 */
export function inTurns<Due extends { readonly teamId: string }>(
  due: readonly Due[],
  limit: number,
  lot: number,
): readonly Due[] {
  const byTeam = new Map<string, Due[]>()
  for (const change of due) {
    const ofTeam = byTeam.get(change.teamId)
    if (ofTeam) ofTeam.push(change)
    else byTeam.set(change.teamId, [change])
  }
  const first = Math.floor(lot * byTeam.size)
  const teams = [...byTeam.values()]
  const inOrder = [...teams.slice(first), ...teams.slice(0, first)].map(changes => ({ changes, turns: 0 }))
  for (let left = Math.min(limit, due.length); left > 0; ) {
    for (const team of inOrder) {
      if (left === 0 || team.turns === team.changes.length) continue
      team.turns += 1
      left -= 1
    }
  }
  return inOrder.flatMap(({ changes, turns }) => changes.slice(0, turns))
}

/** The longest time until a change is retried, in milliseconds. */
export const LONGEST_WAIT = 3_600_000

/** Copies the public fields of a change, and leaves out the fields that only the store uses. */
export const toChange = ({ kind, domainId, domain, registrableDomain, teamId, at }: Change): Change => ({
  kind,
  domainId,
  domain,
  registrableDomain,
  teamId,
  at,
})

/** Returns the change that records a registration, or its release at the current time. */
export const changeOf = (registration: Registration, kind: Change['kind']): Change =>
  toChange({ ...registration, kind, at: kind === 'registered' ? registration.createdAt : new Date() })
