import type { WaitingChange } from '../../src/registry/outbox.ts'
import type { Change, SweepResult } from '../../src/registry/store.ts'
import type { Database, Worker } from './database.ts'
import type { VirtualClock } from './virtual-clock.ts'

export type PushInvariant =
  | 'no release overtakes its registration'
  | 'sweeps share the work'
  | 'what is refused is tried more and more rarely'

/** What one call or one sweep pushes. */
export interface Run {
  readonly worker: Worker
  readonly startedAt: number
  /** By kind and ID what a sweep took; `null` for a call. */
  taken: ReadonlySet<string> | null
  readonly pushes: Push[]
  isOver: boolean
}

/** A push on its way, or what came of it. */
export interface Push {
  readonly keys: ReadonlySet<string>
  /** When its sender waits no longer. */
  readonly givenUpAt: number
  answeredAt: number | null
  hasGoneThrough: boolean
}

interface Surroundings {
  readonly clock: VirtualClock
  readonly database: Database
  readonly timeLimit: number
  readonly violate: (invariant: PushInvariant, detail: string) => void
}

const LONGEST_WAIT = 3_600_000
export const keyOf = ({ kind, domainId }: Change) => `${kind} ${domainId}`

/** What pushes keep to, as the documentation has it. Where a clock has jumped, leases and waits mean nothing. */
export function createPushRules({ clock, database, timeLimit, violate }: Surroundings) {
  const firstWait = timeLimit / 6
  const runs: Run[] = []
  /** By kind and ID: how often it has been refused alone, for what the store was told. */
  const refusals = new Map<string, number>()
  /** By kind and ID: since when what must not be tried before. */
  const waits = new Map<string, { readonly since: number; readonly until: number }>()

  const isUnderWay = ({ answeredAt, givenUpAt }: Push) => answeredAt === null && clock.now() < givenUpAt
  const pushesOf = (key: string) => runs.flatMap(run => run.pushes).filter(({ keys }) => keys.has(key))
  const isExact = () => database.jumped() === 0

  function checkOrder({ domainId, domain }: Change): void {
    const before = pushesOf(`registered ${domainId}`)
    // Where one has gone through, the monitor knows, and another tells it nothing new.
    if (before.some(({ hasGoneThrough }) => hasGoneThrough) || !before.some(isUnderWay)) return
    violate('no release overtakes its registration', `${domain}, ${domainId}`)
  }

  function checkSweep(run: Run, change: Change): void {
    const key = keyOf(change)
    const hastenedAt = change.kind === 'released' ? database.hastenedAt(change.domainId) : Number.NEGATIVE_INFINITY
    // One that took it before its release was due at once has lost it by that.
    const hasRival = runs.some(
      other =>
        other !== run &&
        !other.isOver &&
        other.taken?.has(key) &&
        Math.min(run.startedAt, other.startedAt) > hastenedAt,
    )
    if (hasRival) violate('sweeps share the work', `${key} of ${change.domain}`)
    const wait = waits.get(key)
    if (wait && clock.now() < wait.until && Math.min(run.startedAt, wait.since) > hastenedAt) {
      violate('what is refused is tried more and more rarely', `${key}, ${wait.until - clock.now()} ms too early`)
    }
  }

  /** Whether somebody else has leased it since: it is put off no longer than for them. */
  function hasLost(run: Run, key: string): boolean {
    const [, domainId] = key.split(' ') as [string, string]
    return (
      database.leasedToCallAt(domainId) >= run.startedAt ||
      runs.some(other => other !== run && other.startedAt >= run.startedAt && other.taken?.has(key))
    )
  }

  return {
    begin(worker: Worker, bySweep: boolean): Run {
      const run = {
        worker,
        startedAt: clock.now(),
        taken: bySweep ? new Set<string>() : null,
        pushes: [],
        isOver: false,
      }
      runs.push(run)
      return run
    },

    took(run: Run, changes: readonly WaitingChange[]): void {
      run.taken = new Set(changes.map(keyOf))
    },

    push(run: Run, changes: readonly Change[], begunAt: number): Push {
      if (isExact()) {
        for (const change of changes) {
          if (change.kind === 'released') checkOrder(change)
          if (run.taken) checkSweep(run, change)
        }
      }
      const now = clock.now()
      // Half of what is left of the time for all pushes.
      const givenUpAt = now + (begunAt + 2 * timeLimit - now) / 2
      const push = { keys: new Set(changes.map(keyOf)), givenUpAt, answeredAt: null, hasGoneThrough: false }
      run.pushes.push(push)
      return push
    },

    /** @param result `null` where a sweep did not come to its end: nobody knows what it has put off. */
    end(run: Run, result: SweepResult | null): void {
      run.isOver = true
      if (!run.taken || !result || run.pushes.length === 0) return
      const endedAt = Math.max(...run.pushes.map(({ answeredAt, givenUpAt }) => answeredAt ?? givenUpAt))
      const through = new Set(run.pushes.flatMap(push => (push.hasGoneThrough ? [...push.keys] : [])))
      const failed = [...run.taken].filter(key => !through.has(key))
      const alone = new Set(run.pushes.flatMap(({ keys }) => (keys.size === 1 ? [...keys] : [])))
      const isAway = result.synchronized === 0 && failed.some(key => !alone.has(key))
      for (const key of failed) {
        waits.delete(key)
        if (!alone.has(key) || hasLost(run, key)) continue
        const before = refusals.get(key) ?? 0
        if (!isAway) refusals.set(key, before + 1)
        const wait = isAway ? firstWait : Math.min(LONGEST_WAIT, firstWait * 2 ** before) / 2
        waits.set(key, { since: run.startedAt, until: endedAt + wait })
      }
    },

    /** Its sweeps and calls are over. */
    died(worker: Worker): void {
      for (const run of runs) if (run.worker === worker) run.isOver = true
    },
  }
}
