import type { Outbox, WaitingChange } from '../../src/registry/outbox.ts'
import type { Change } from '../../src/registry/store.ts'
import type { Random } from './random.ts'
import type { Owner, VirtualClock } from './virtual-clock.ts'

/** Ways in which a store may get its outbox wrong, to see whether the simulation notices. */
export type OutboxBreach =
  | 'never ends a lease'
  | 'takes without a lease'
  | 'does not record releases'
  | 'lets a release overtake a push'
  | 'forgets a release that came during a push'
  | 'puts nothing off'
  | 'takes the newest first and only a few'

/** A process that works with the database; what the database was told may outlive it. */
export interface Worker {
  readonly database: Owner
}

export interface Holding extends Omit<Change, 'kind'> {
  isSynchronized: boolean
}

interface Waiting {
  change: Change
  due: number
  /** When the lease of the call ends that saved it. */
  firstLease: number
  refusals: number
}

interface Surroundings {
  readonly clock: VirtualClock
  readonly random: Random
  readonly breach: OutboxBreach | undefined
  /** Whether an answer of the database is lost, or a statement fails. */
  readonly fails: () => boolean
  readonly lease: number
}

/** A durable registry with its outbox: every call is one step, some while later, and the answer comes later still. */
export interface OutboxModel {
  readonly held: ReadonlyMap<string, Holding>
  /** What waits. */
  changes(): readonly Change[]
  /** What its own clock says more than ours. */
  jump(milliseconds: number): void
  /** @returns What was registered or found unsynchronized: what a call pushes. */
  register(worker: Worker, teamId: string, domains: readonly string[]): Promise<readonly Holding[]>
  release(worker: Worker, teamId: string, domain: string): Promise<void>
  outboxOf(worker: Worker): Outbox
}

export function createOutboxModel({ clock, random, breach, fails, lease }: Surroundings): OutboxModel {
  /** By domain. */
  const held = new Map<string, Holding>()
  /** By ID, in the order of registration. */
  const waiting = new Map<string, Waiting>()
  let ids = 0
  let offset = 0
  const now = () => clock.now() + offset

  function ask<T>(worker: Worker, step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => clock.plan(random.integer(0, 8), worker, settle)
      clock.plan(random.integer(0, 8), worker.database, () => {
        if (fails()) return void answer(() => reject(new Error('failed before commit')))
        const result = step()
        answer(() => (fails() ? reject(new Error('failed after commit')) : resolve(result)))
      })
    })
  }

  function register(teamId: string, domains: readonly string[]): readonly Holding[] {
    return domains.flatMap(domain => {
      const found = held.get(domain)
      if (found) {
        if (found.teamId !== teamId || found.isSynchronized) return []
        const entry = waiting.get(found.domainId)
        if (entry) entry.due = Math.max(entry.due, now() + lease)
        return [found]
      }
      ids += 1
      const holding = { domainId: `id-${ids}`, domain, registrableDomain: domain, teamId, isSynchronized: false }
      held.set(domain, holding)
      const due = now() + lease
      waiting.set(holding.domainId, { change: toChange(holding, 'registered'), due, firstLease: due, refusals: 0 })
      return [holding]
    })
  }

  function release(teamId: string, domain: string): void {
    const holding = held.get(domain)
    if (holding?.teamId !== teamId) return
    held.delete(domain)
    const entry = waiting.get(holding.domainId)
    waiting.delete(holding.domainId)
    if (breach === 'does not record releases') return
    const isAtOnce = !entry || breach === 'lets a release overtake a push'
    // A whole lease: a push that failed may have brought the time of the registration forward while another goes on.
    const due = isAtOnce ? now() : now() + lease
    waiting.set(holding.domainId, { change: toChange(holding, 'released'), due, firstLease: due, refusals: 0 })
  }

  function take(limit: number, forMilliseconds: number): readonly WaitingChange[] {
    const due = [...waiting.values()].filter(entry => entry.due <= now())
    const taken = breach === 'takes the newest first and only a few' ? due.reverse().slice(0, 1) : due.slice(0, limit)
    for (const entry of taken) {
      if (breach === 'never ends a lease') entry.due = Number.POSITIVE_INFINITY
      else if (breach !== 'takes without a lease') entry.due = now() + forMilliseconds
    }
    return taken.map(({ change, refusals, due: lease }) => ({ ...change, refusals, lease }))
  }

  function finish({ domainId, kind }: Change): void {
    const entry = waiting.get(domainId)
    const holding = [...held.values()].find(other => other.domainId === domainId)
    if (holding && kind === 'registered') holding.isSynchronized = true
    if (!entry) return
    if (entry.change.kind === kind || breach === 'forgets a release that came during a push') waiting.delete(domainId)
    else entry.due = now()
  }

  return {
    held,
    changes: () => [...waiting.values()].map(({ change }) => change),
    jump: milliseconds => {
      offset += milliseconds
    },
    register: (worker, teamId, domains) => ask(worker, () => register(teamId, domains)),
    release: (worker, teamId, domain) => ask(worker, () => release(teamId, domain)),
    outboxOf: worker => ({
      take: (limit, forMilliseconds) => ask(worker, () => take(limit, forMilliseconds)),
      finish: changes => ask(worker, () => changes.forEach(finish)),
      postpone: postponements =>
        ask(worker, () => {
          for (const { change, lease: held, wait, isRefusal } of postponements) {
            const entry = waiting.get(change.domainId)
            if (entry?.change.kind !== change.kind || entry.due !== (held ?? entry.firstLease)) continue
            entry.due = breach === 'puts nothing off' ? now() : now() + wait
            if (isRefusal) entry.refusals += 1
          }
        }),
    }),
  }
}

const toChange = ({ domainId, domain, registrableDomain, teamId }: Holding, kind: Change['kind']): Change => ({
  kind,
  domainId,
  domain,
  registrableDomain,
  teamId,
})
