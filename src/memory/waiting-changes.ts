import type { Outbox, WaitingChange } from '../registry/outbox.ts'
import type { Change } from '../registry/store.ts'
import type { Holding } from './holding.ts'

/** The changes that wait in a memory store. */
export interface WaitingChanges extends Outbox {
  /** Records a registration, leased to the call that pushes it. */
  addRegistered(holding: Holding): void
  /** Records a release, in place of the registration if that still waits. */
  addReleased(holding: Holding): void
  /** Leases a waiting registration to the call that found it. */
  lease(domainId: string): void
  count(): number
}

interface Waiting {
  kind: Change['kind']
  readonly holding: Holding
  /** By the monotonic clock. */
  due: number
  /** When the first lease ends, that of the call that saved the registration. */
  readonly firstLease: number
  refusals: number
}

/** @param leaseTime The length in milliseconds of the lease that a call has on its registrations. */
export function createWaitingChanges(leaseTime: number): WaitingChanges {
  /** By domain ID, in the order in which the changes came or were last taken. */
  const waiting = new Map<string, Waiting>()
  const leased = () => performance.now() + leaseTime

  return {
    addRegistered(holding) {
      const due = leased()
      waiting.set(holding.domainId, { kind: 'registered', holding, due, firstLease: due, refusals: 0 })
    },

    addReleased(holding) {
      const due = waiting.has(holding.domainId) ? leased() : performance.now()
      waiting.set(holding.domainId, { kind: 'released', holding, due, firstLease: due, refusals: 0 })
    },

    lease(domainId) {
      const change = waiting.get(domainId)
      if (change) change.due = Math.max(change.due, leased())
    },

    take(limit, lease) {
      const now = performance.now()
      const taken: WaitingChange[] = []
      for (const [domainId, change] of waiting) {
        if (taken.length === limit) break
        if (change.due > now) continue
        change.due = now + lease
        taken.push(toChange(change))
        // Moved to the end. The loop meets it there again, when it is not due.
        waiting.delete(domainId)
        waiting.set(domainId, change)
      }
      return taken
    },

    finish(changes) {
      for (const { domainId, kind } of changes) {
        const change = waiting.get(domainId)
        if (change?.kind === kind) {
          change.holding.synchronized = true
          waiting.delete(domainId)
        } else if (change) {
          // A release has replaced the registration, and waited for its push.
          change.due = performance.now()
        }
      }
    },

    postpone(postponements) {
      for (const { change: taken, lease, wait, isRefusal } of postponements) {
        const change = waiting.get(taken.domainId)
        if (change?.kind !== taken.kind || change.due !== (lease ?? change.firstLease)) continue
        change.due = performance.now() + wait
        if (isRefusal) change.refusals += 1
      }
    },

    count: () => waiting.size,
  }
}

function toChange({ kind, holding, refusals, due }: Waiting): WaitingChange {
  const { domainId, domain, registrableDomain, teamId } = holding
  return { kind, domainId, domain, registrableDomain, teamId, refusals, lease: due }
}
