import type { Awaitable } from '../awaitable.ts'
import type { Outbox, Postponement, WaitingChange } from '../registry/outbox.ts'
import type { Change, Registration } from '../registry/store.ts'
import type { DueRow, Statements } from './statements.ts'

/** Runs work in a transaction, as soon as others let go of the database. */
export type Transact = <T>(work: () => T) => Awaitable<T>

export interface SqliteOutbox extends Outbox {
  /** Milliseconds for which what a call pushes is leased to it. */
  readonly leaseTime: number
  /** Leases a registration that waits to the call that found it. In its transaction. */
  lease(registration: Registration): void
  /** Records that a registration is to be taken back. In the transaction that releases it. */
  addReleased(registration: Registration): void
  count(): number
}

/**
 * The changes that wait in the tables: registrations in their own rows, releases in a table of theirs, so that a
 * `domainId` waits in one of the two.
 *
 * @param leaseTime In milliseconds, for what a call pushes.
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
    // A release that came in its place has waited for the push.
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
      // A push of what is not synchronized may be under way.
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
