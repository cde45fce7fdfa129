import type { Outbox, WaitingChange } from '../registry/outbox.ts'
import type { Change } from '../registry/store.ts'
import type { Holding } from './holding.ts'

/** The changes that wait in a memory store. */
export interface WaitingChanges extends Outbox {
  /** Records that a registration is to be pushed, leased to the call that does. */
  addRegistered(holding: Holding): void
  /** Records that a registration is to be taken back, in place of that it is to be pushed. */
  addReleased(holding: Holding): void
  /** Leases a registration that waits to the call that found it. */
  lease(domainId: string): void
  count(): number
}

interface Waiting {
  kind: Change['kind']
  readonly holding: Holding
  /** By the clock that never goes back. */
  due: number
  /** When the lease of the call ends that saved it. */
  readonly firstLease: number
  refusals: number
}

/** @param leaseTime In milliseconds, for what a call pushes. */
export function createWaitingChanges(leaseTime: number): WaitingChanges {
  /** By domain ID, first what was taken the longest ago, or came before. */
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
        // To the end: it is met there once more, and is not due.
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
          // A release that waited for the push of its registration.
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
