import type { Outbox, WaitingChange } from '../../src/registry/outbox.ts'
import type { Registration } from '../../src/registry/store.ts'
import type { Random } from './random.ts'
import type { Registry } from './registries.ts'
import type { Owner, VirtualClock } from './virtual-clock.ts'

/** A process that works with the database; what the database was told may outlive it. */
export interface Worker {
  readonly database: Owner
}

interface Surroundings {
  readonly registry: Registry
  readonly clock: VirtualClock
  readonly random: Random
  /** Whether an answer of the database is lost, or a statement fails. */
  readonly fails: () => boolean
  readonly lease: number
  /** Learns that a change was handed out again before one that has been due all the while. */
  readonly onOvertaken: (domainId: string) => void
}

/** A registry that is asked from afar: every call is one step, some while later, and the answer comes later still. */
export interface Database {
  /** How far its own clock has jumped, there and back. */
  jumped(): number
  jump(milliseconds: number): void
  register(worker: Worker, teamId: string, domains: readonly string[]): Promise<readonly Registration[]>
  release(worker: Worker, teamId: string, domain: string): Promise<unknown>
  outboxOf(worker: Worker): Outbox
  /** When a call last leased this registration. */
  leasedToCallAt(domainId: string): number
  /** When a push of this registration last made its release due. */
  hastenedAt(domainId: string): number
}

export function createDatabase({ registry, clock, random, fails, lease, onOvertaken }: Surroundings): Database {
  const { outbox } = registry
  let offset = 0
  let jumped = 0
  const leasedToCall = new Map<string, number>()
  const hastened = new Map<string, number>()
  const fairness = createFairness(clock, domainId => {
    if (jumped === 0) onOvertaken(domainId)
  })

  function ask<T>(worker: Worker, step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => clock.plan(random.integer(0, 8), worker, settle)
      clock.plan(random.integer(0, 8), worker.database, () => {
        if (fails()) return void answer(() => reject(new Error('failed before commit')))
        const result = clock.skew(offset, step)
        answer(() => (fails() ? reject(new Error('failed after commit')) : resolve(result)))
      })
    })
  }

  return {
    jumped: () => jumped,
    jump(milliseconds) {
      offset += milliseconds
      jumped += Math.abs(milliseconds)
    },
    leasedToCallAt: domainId => leasedToCall.get(domainId) ?? Number.NEGATIVE_INFINITY,
    hastenedAt: domainId => hastened.get(domainId) ?? Number.NEGATIVE_INFINITY,

    async register(worker, teamId, domains) {
      return ask(worker, () => {
        const own = registry.register(teamId, domains)
        for (const { domainId } of own) {
          leasedToCall.set(domainId, clock.now())
          fairness.waits(domainId, lease)
        }
        return own
      })
    },
    release: (worker, teamId, domain) =>
      ask(worker, () => {
        for (const { domainId } of registry.release(teamId, domain)) fairness.waits(domainId, lease)
      }),

    outboxOf: worker => ({
      take: (limit, milliseconds) =>
        ask(worker, () => {
          const taken = outbox.take(limit, milliseconds) as readonly WaitingChange[]
          fairness.taken(taken, limit)
          for (const { domainId } of taken) fairness.waits(domainId, milliseconds)
          return taken
        }),
      finish: changes =>
        ask(worker, () => {
          outbox.finish(changes)
          for (const { kind, domainId } of changes) {
            if (kind === 'registered') hastened.set(domainId, clock.now())
            fairness.isDone(domainId)
          }
        }),
      postpone: postponements =>
        ask(worker, () => {
          outbox.postpone(postponements)
          for (const { change, wait } of postponements) fairness.waitsOn(change.domainId, wait)
        }),
    }),
  }
}

/** Whether what is due is handed out in turn, seen from outside. */
function createFairness({ now }: VirtualClock, onOvertaken: (domainId: string) => void) {
  /** By ID: until when each is due, whatever has become of leases that were lost. */
  const dueBy = new Map<string, number>()
  const lastTaken = new Map<string, number>()

  function waits(domainId: string, milliseconds: number): void {
    dueBy.set(domainId, Math.max(dueBy.get(domainId) ?? 0, now() + milliseconds))
  }

  return {
    waits,
    /** If it has not been done meanwhile. */
    waitsOn(domainId: string, milliseconds: number): void {
      if (dueBy.has(domainId)) waits(domainId, milliseconds)
    },
    /** A release in its place may wait all the same, and is not looked at. */
    isDone: (domainId: string) => void dueBy.delete(domainId),
    taken(changes: readonly WaitingChange[], limit: number): void {
      const ids = new Set(changes.map(({ domainId }) => domainId))
      const latest = Math.max(...changes.map(({ domainId }) => lastTaken.get(domainId) ?? Number.NEGATIVE_INFINITY))
      for (const [domainId, due] of dueBy) {
        const isPassedOver = !ids.has(domainId) && due <= now()
        if (isPassedOver && (changes.length < limit || latest > due)) onOvertaken(domainId)
      }
      for (const domainId of ids) lastTaken.set(domainId, now())
    },
  }
}
