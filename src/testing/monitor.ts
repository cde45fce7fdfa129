import type { Change, Registration, SweepResult } from '../registry/store.ts'
import { checkThat, UnmetExpectation } from './check.ts'
import type { SuiteStore } from './suite-store.ts'

/**
 * What does the monitoring, as a case sees it: it can be away, refuse names for ever, and remembers what it was told.
 */
export interface Monitor {
  isAway: boolean
  /** Whether it does what it is told, and fails all the same. */
  losesAnswers: boolean
  /** Domains that it refuses. */
  readonly refused: Set<string>
  push(changes: readonly Change[]): void
  /** The changes of each push since the last question, whether the push went through or not. */
  takePushes(): (readonly Change[])[]
  /** `domainId`, kind and domain of what went through, in order. */
  readonly accepted: Change[]
  /** The domains that are watched, by what was told: what was released is never watched again. */
  watched(): string[]
}

export function createMonitor(): Monitor {
  const pushes: (readonly Change[])[] = []
  const monitor: Monitor = {
    isAway: false,
    losesAnswers: false,
    refused: new Set(),
    accepted: [],
    push(changes) {
      pushes.push([...changes])
      if (monitor.isAway) throw new Error('the monitor is away, as the case wants it')
      const refused = changes.find(({ domain }) => monitor.refused.has(domain))
      if (refused) throw new Error(`the monitor refuses ${refused.domain}, as the case wants it`)
      monitor.accepted.push(...changes)
      if (monitor.losesAnswers) throw new Error('the answer of the monitor is lost, as the case wants it')
    },
    takePushes: () => pushes.splice(0),
    watched() {
      const released = new Set(monitor.accepted.filter(({ kind }) => kind === 'released').map(idOf))
      const registered = monitor.accepted.filter(change => change.kind === 'registered' && !released.has(idOf(change)))
      return [...new Set(registered.map(({ domain, teamId }) => `${domain} for team ${teamId}`))].sort()
    },
  }
  return monitor
}

const idOf = ({ domainId }: { domainId: string }) => domainId

/** Milliseconds for a push, so short that leases and waits end within a case. */
export const SOON = 30

/** For a store whose feature is declared; a case tells when that is not so. */
export async function sweep(store: SuiteStore, limit?: number): Promise<SweepResult> {
  if (!store.synchronizePending) throw new UnmetExpectation('expected a method synchronizePending, got none')
  const result = await store.synchronizePending(limit === undefined ? undefined : { limit })
  const isResult = Number.isInteger(result?.synchronized) && Number.isInteger(result.failed)
  checkThat('synchronizePending resolves to { synchronized, failed }', isResult, result)
  return result
}

export async function synchronize(store: SuiteStore, registrations: readonly Registration[]): Promise<void> {
  if (!store.synchronize) throw new UnmetExpectation('expected a method synchronize, got none')
  await store.synchronize(registrations)
}

/**
 * Sweeps again and again until something is so: what waits for a lease to end, or for its next try, is not due before.
 */
export async function sweepUntil(
  store: SuiteStore,
  claim: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let sweeps = 0; sweeps < 100; sweeps += 1) {
    await sweep(store)
    if (await isSo()) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new UnmetExpectation(`expected that after some sweeps ${claim}, got 100 sweeps without it`)
}
