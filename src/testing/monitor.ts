import type { SweepOptions, SweepResult } from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'
import { methodOf, save } from './calls.ts'
import { checkRejects, checkThat, UnmetExpectation } from './check.ts'
import type { Trial } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

/** A monitor for the store under test. The monitor can be unavailable or refuse changes, and it records the pushes. */
interface Monitor {
  isAway: boolean
  /** Whether pushes take effect although they report a failure. */
  losesAnswers: boolean
  /** Whether the monitor refuses a change. At first, it refuses none. */
  refuses: (change: Change) => boolean
  push(changes: readonly Change[]): Promise<void>
  /** Makes the next push wait, before it takes effect, until `end` is called. `begun` resolves when it has begun. */
  holdNext(): { readonly begun: Promise<void>; end(): void }
  /** Returns the changes of each push since the last call, even if the push failed. */
  takePushes(): (readonly Change[])[]
  /** The accepted changes, in order. */
  readonly accepted: Change[]
  /** Returns the domains that are watched. A `domainId` that was released is never watched again. */
  watched(): string[]
}

export function createMonitor(): Monitor {
  const pushes: (readonly Change[])[] = []
  /** The hold of the next push. */
  let next: { readonly begin: () => void; readonly ended: Promise<void> } | undefined
  const monitor: Monitor = {
    isAway: false,
    losesAnswers: false,
    refuses: named(),
    accepted: [],
    async push(changes) {
      pushes.push([...changes])
      const hold = next
      next = undefined
      hold?.begin()
      await hold?.ended
      if (monitor.isAway) throw new Error('the monitor is unavailable, on purpose')
      const refused = changes.find(monitor.refuses)
      if (refused) throw new Error(`the monitor refuses ${refused.domain}`)
      monitor.accepted.push(...changes)
      if (monitor.losesAnswers) throw new Error('the response of the monitor is lost')
    },
    holdNext() {
      const [begun, ended] = [createGate(), createGate()]
      next = { begin: begun.open, ended: ended.opened }
      return { begun: begun.opened, end: ended.open }
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

/** Creates a store that pushes to a new monitor. */
export async function openMonitored(open: Trial['open'], more?: Parameters<Trial['open']>[1]) {
  const monitor = createMonitor()
  return [await open(monitor.push, more), monitor] as const
}

/** Matches the changes of these domains. */
export const named =
  (...domains: readonly string[]) =>
  ({ domain }: Change): boolean =>
    domains.includes(domain)

export const withoutTime = ({ at: _, ...change }: Change) => change

const idOf = ({ domainId }: { domainId: string }) => domainId

/**
 * The time limit of a push, in milliseconds: short enough for leases and waits to end within a case, and long enough
 * for a call on a busy machine to save and push its names within its lease.
 */
export const SOON = 200
export const soon = { synchronizeTimeLimit: SOON }

export async function runSweep(store: SuiteStore, options?: SweepOptions): Promise<SweepResult> {
  const result = await methodOf(store, 'synchronizePending')(options)
  const isResult = Number.isInteger(result?.synchronized) && Number.isInteger(result.failed)
  checkThat('synchronizePending resolves to { synchronized, failed }', isResult, result)
  return result
}

export async function synchronize(store: SuiteStore, registrations: readonly Registration[]): Promise<void> {
  await methodOf(store, 'synchronize')(registrations)
}

export const pause = (milliseconds: number) => new Promise<void>(resolve => setTimeout(resolve, milliseconds))

/**
 * Repeats sweeps until a condition holds. A change becomes due only when its lease, or the wait for its next attempt,
 * has ended.
 */
export async function sweepUntil(
  store: SuiteStore,
  claim: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let sweeps = 0; sweeps < 100; sweeps += 1) {
    await runSweep(store)
    if (await isSo()) return
    await pause(SOON / 10)
  }
  throw new UnmetExpectation(`expected that ${claim} after at most 100 sweeps, got no such state`)
}

/** Creates a gate. Code that awaits `opened` continues once `open` is called. The gate then stays open. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

/** Registers names whose push fails because the monitor is unavailable. */
export async function saveDuringOutage(store: SuiteStore, monitor: Monitor, ...domains: string[]): Promise<void> {
  monitor.isAway = true
  await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', domains)))
  monitor.isAway = false
  monitor.takePushes()
}

/** Registers, synchronizes and releases names, so that their releases are due at once. */
export async function saveAndRelease(store: SuiteStore, ...domains: string[]): Promise<void> {
  await synchronize(store, await save(store, '1', domains))
  await methodOf(store, 'release')('1', domains)
}
