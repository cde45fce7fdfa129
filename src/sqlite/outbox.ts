import type { Awaitable } from '../awaitable.ts'
import type { Outbox, Postponement, WaitingChange } from '../registry/outbox.ts'
import type { Change, Registration } from '../registry/store.ts'
import type { DueRow, Statements } from './statements.ts'

/** Runs work in a transaction, once the write lock is free. */
export type Transact = <T>(work: () => T) => Awaitable<T>

export interface SqliteOutbox extends Outbox {
  /** The length in milliseconds of the lease that a call has on its registrations. */
  readonly leaseTime: number
  /** Leases a waiting registration to the call that found it. To be called in the transaction of that call. */
  lease(registration: Registration): void
  /** Records a release. To be called in the transaction that releases. */
  addReleased(registration: Registration): void
  count(): number
}

/**
 * Keeps the waiting changes in the tables: registrations in their own rows, releases in a separate table. A `domainId`
 * is in one of the two.
 *
 * @param leaseTime The length in milliseconds of the lease that a call has on its registrations.
 */
export function createOutbox(statements: Statements, transact: Transact, leaseTime: number): SqliteOutbox {
  function take(limit: number, lease: number): WaitingChange[] {
    const now = Date.now()
    const due = [
      ...statements.findDueNames(now, limit).map(row => toWaiting(row, 'registered')),
      ...statements.findDueReleases(now, limit).map(row => toWaiting(row, 'released')),
    ]
    const taken = due.sort(byAge).slice(0, limit)
    for (const { change } of taken) {
      const leaseChange = change.kind === 'registered' ? statements.leaseName : statements.leaseRelease
      leaseChange(now + lease, change.domainId)
    }
    return taken.map(({ change }) => ({ ...change, lease: now + lease }))
  }

  function finish({ kind, domainId }: Change): void {
    if (kind === 'released') statements.forgetRelease(domainId)
    // A release has replaced the registration, and waited for its push.
    else if (statements.markSynchronized(domainId).length === 0) statements.leaseRelease(Date.now(), domainId)
  }

  function postpone({ change: { kind, domainId }, lease, wait, isRefusal }: Postponement): void {
    const due = Date.now() + Math.ceil(wait)
    const refusals = isRefusal ? 1 : 0
    if (lease === null) statements.postponeSaved(due, domainId, leaseTime)
    else if (kind === 'registered') statements.postponeName(due, refusals, domainId, lease)
    else statements.postponeRelease(due, refusals, domainId, lease)
  }

  return {
    leaseTime,
    lease: ({ domainId }) => void statements.leaseName(Date.now() + leaseTime, domainId),

    addReleased({ domainId, domain, registrableDomain, teamId, synchronized }) {
      // While the registration is unsynchronized, its push may be under way.
      const due = Date.now() + (synchronized ? 0 : leaseTime)
      statements.insertRelease(domainId, domain, registrableDomain, teamId, due)
    },

    count: () => statements.countPending()[0]?.count ?? 0,
    take: (limit, lease) => transact(() => take(limit, lease)),
    finish: changes => transact(() => changes.forEach(finish)),

    postpone: postponements => transact(() => postponements.forEach(postpone)),
  }
}

interface Waiting {
  readonly due: number
  readonly change: Omit<WaitingChange, 'lease'>
}

const toWaiting = (row: DueRow, kind: Change['kind']): Waiting => ({
  due: row.due,
  change: {
    kind,
    domainId: row.domain_id,
    domain: row.domain,
    registrableDomain: row.registrable_domain,
    teamId: row.team_id,
    refusals: row.refusals,
  },
})

const byAge = (one: Waiting, other: Waiting) =>
  one.due - other.due || (one.change.domainId < other.change.domainId ? -1 : 1)
