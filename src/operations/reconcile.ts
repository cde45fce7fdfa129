import { NO_CALLING_TEAM, type Registration } from '../rules/registration.ts'
import { toName } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { requireMethod } from './call.ts'
import { eachRegistration } from './each-registration.ts'

/** A hostname that a monitor watches. */
export interface Watched {
  readonly domainId: string
  readonly domain: string
  /** The team that gets the alerts about the hostname. If `teamId` is missing, teams are not compared. */
  readonly teamId?: string | undefined
}

/** A change to the monitor's list. After all corrections, the monitor watches exactly the registered names. */
export type Correction =
  | { readonly action: 'add'; readonly registration: Registration }
  | { readonly action: 'remove'; readonly watched: Watched }

/**
 * How many corrections are looked up again in one batch. The number is small, because corrections become outdated while
 * the caller handles them one by one.
 */
const MOST_CONFIRMED = 100

/**
 * Compares the registrations with the list of a monitor, and yields the hostnames that the monitor must add or remove.
 * Both sides change during the comparison, so `reconcile` looks up differences again, at most 100 at a time, right
 * before it yields them. Pending registrations, and the monitor's entries for those names, are left to the sweeps. If
 * the monitor has recorded another team or another name for a registration, the monitor must remove the hostname and
 * then add it again.
 * Only one page is in memory at a time, regardless of the number of names.
 *
 * Pass a store on the primary database. A replica that lags lacks the newest registrations, so the monitor would remove
 * them.
 *
 * @param watched The monitor's list, in ascending order of `domainId`.
 * @returns Corrections. The monitor must tolerate corrections that change nothing: it may already watch a name that it
 *   is told to add, and may no longer watch a name that it is told to remove.
 * @throws {TypeError} if the store lacks `list` or `find`, or if `watched` or the store's own list is not in order. IDs
 *   must ascend in the order of registration, as they do in all bundled stores.
 * @throws The failure of the store or of `watched`.
 *
 * @example
 * for await (const correction of reconcile(store, monitor.list())) {
 *   if (correction.action === 'add') await monitor.watch(correction.registration)
 *   else await monitor.forget(correction.watched.domainId)
 * }
 */
export async function* reconcile(
  store: DomainStore,
  watched: AsyncIterable<Watched> | Iterable<Watched>,
): AsyncGenerator<Correction, void> {
  requireMethod(store, 'find')
  let differing: Correction[] = []
  for await (const correction of compare(
    inOrder(eachRegistration(store), 'The registrations'),
    inOrder(watched, 'The watched names'),
  )) {
    differing.push(correction)
    if (differing.length < MOST_CONFIRMED) continue
    yield* await confirm(store, differing)
    differing = []
  }
  yield* await confirm(store, differing)
}

/** Walks both sides in order of their IDs. */
async function* compare(
  registered: AsyncGenerator<Registration, void>,
  watched: AsyncGenerator<Watched, void>,
): AsyncGenerator<Correction, void> {
  try {
    let [left, right] = [await registered.next(), await watched.next()]
    while (!left.done || !right.done) {
      const order = compareIds(left, right)
      const isDifferent = order === 0 && differs(right.value as Watched, left.value as Registration)
      if ((order > 0 || isDifferent) && !right.done) yield { action: 'remove', watched: right.value }
      if ((order < 0 || isDifferent) && !left.done) yield { action: 'add', registration: left.value }
      if (order <= 0) left = await registered.next()
      if (order >= 0) right = await watched.next()
    }
  } finally {
    // If the caller stops early, this also closes the caller's iterable, such as a database cursor.
    await watched.return()
  }
}

/** The monitor may spell the name in another way. */
const differs = ({ domain, teamId }: Watched, registration: Registration): boolean =>
  (teamId !== undefined && teamId !== registration.teamId) ||
  (domain !== registration.domain && toName(domain)?.domain !== registration.domain)

/** Once one side has ended, the next ID of the other side always counts as the smaller one. */
function compareIds(left: IteratorResult<Registration>, right: IteratorResult<Watched>): number {
  if (left.done) return 1
  if (right.done) return -1
  if (left.value.domainId === right.value.domainId) return 0
  return left.value.domainId < right.value.domainId ? -1 : 1
}

async function* inOrder<Side extends Watched>(
  side: AsyncIterable<Side> | Iterable<Side>,
  what: string,
): AsyncGenerator<Side, void> {
  let last = ''
  for await (const each of side) {
    if (typeof each?.domainId !== 'string' || typeof each.domain !== 'string')
      throw new TypeError(`${what} must be { domainId, domain }, both strings`)
    if (each.teamId !== undefined && typeof each.teamId !== 'string')
      throw new TypeError(`${what} must have a string as "teamId", or none`)
    if (each.domainId <= last) throw new TypeError(`${what} must come in ascending order of "domainId"`)
    last = each.domainId
    yield each
  }
}

/** Looks up the differences again, and returns those that still exist. */
async function confirm(store: DomainStore, corrections: readonly Correction[]): Promise<readonly Correction[]> {
  if (corrections.length === 0) return []
  const find = requireMethod(store, 'find')
  const domainOf = (each: Correction) =>
    each.action === 'add' ? each.registration.domain : (toName(each.watched.domain)?.domain ?? each.watched.domain)
  const domains = [...new Set(corrections.map(domainOf))]
  const { registrations } = await find({ teamId: NO_CALLING_TEAM, domains, bases: [] })
  await letOthersRun()
  const found = new Map(registrations.map(registration => [registration.domainId, registration]))
  // A transferred name stays watched under its former ID until it is watched under the new one.
  const pending = new Set(registrations.filter(each => !each.synchronized).map(({ domain }) => domain))
  return corrections.filter(each => {
    if (each.action === 'add') return found.get(each.registration.domainId)?.synchronized === true
    const registration = found.get(each.watched.domainId)
    return registration
      ? registration.synchronized && differs(each.watched, registration)
      : !pending.has(domainOf(each))
  })
}
