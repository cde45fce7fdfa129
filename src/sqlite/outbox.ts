import type { Awaitable } from '../awaitable.ts'
import type { Outbox, WaitingChange } from '../registry/outbox.ts'
import type { Change, Registration } from '../registry/store.ts'
import type { DueRow, Statements } from './statements.ts'

/** Runs work in a transaction, as soon as others let go of the database. */
export type Transact = <T>(work: () => T) => Awaitable<T>

export interface SqliteOutbox extends Outbox {
  /** When a lease that begins now ends. */
  leaseEnd(): number
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
  const leaseEnd = () => Date.now() + leaseTime

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
    return taken.map(({ change }) => change)
  }

  function finish({ kind, domainId }: Change): void {
    if (kind === 'released') statements.forgetRelease(domainId)
    // A release that came in its place has waited for the push.
    else if (statements.markSynchronized(domainId).length === 0) statements.leaseRelease(Date.now(), domainId)
  }

  return {
    leaseEnd,
    lease: ({ domainId }) => void statements.leaseName(leaseEnd(), domainId),

    addReleased({ domainId, domain, registrableDomain, teamId, synchronized }) {
      // A push of what is not synchronized may be under way.
      const due = synchronized ? Date.now() : leaseEnd()
      statements.insertRelease(domainId, domain, registrableDomain, teamId, due)
    },

    count: () => statements.countPending()[0]?.count ?? 0,
    take: (limit, lease) => transact(() => take(limit, lease)),
    finish: changes => transact(() => changes.forEach(finish)),

    postpone: postponements =>
      transact(() => {
        for (const { change, wait, isRefusal } of postponements) {
          const postpone = change.kind === 'registered' ? statements.postponeName : statements.postponeRelease
          postpone(Date.now() + Math.ceil(wait), isRefusal ? 1 : 0, change.domainId)
        }
      }),
  }
}

interface Waiting {
  readonly due: number
  readonly change: WaitingChange
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
