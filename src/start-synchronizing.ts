import { requireTimeLimit } from './deadline.ts'
import { ignoreErrors } from './ignore-errors.ts'
import type { SweepOptions, SweepResult, SynchronizationErrorHandler } from './registry/store.ts'

/** A store that can push the changes that wait in it, such as all bundled ones. */
export interface Synchronizable {
  /** Sweeps once. */
  synchronizePending(options?: SweepOptions): PromiseLike<SweepResult>
}

/** Options of {@link startSynchronizing}. */
export interface StartSynchronizingOptions {
  /** Milliseconds between two sweeps. Default 10,000. While every push fails, they grow to a minute. */
  every?: number | undefined
  /**
   * Called in place of the store's own `onError`, and also with the failure of a store that could not be asked.
   * Default: the store's `onError`; failures of the store are then reported to nobody.
   */
  onError?: SynchronizationErrorHandler | undefined
}

const DEFAULT_EVERY = 10_000
/** The longest pause after sweeps that failed, in milliseconds, unless `every` is longer. */
const LONGEST_PAUSE = 60_000

/**
 * Sweeps a store in a loop, so that no change has to wait for a caller to retry. It sweeps at once, again as long as
 * there is more to push, and then every few seconds. Any number of processes may run such a loop over one database;
 * they share the work. The sweeps of one loop never overlap. The loop does not keep the process alive.
 *
 * @returns `stop`, which ends the loop and resolves when the current sweep has ended.
 * @throws {TypeError} for a store without `synchronizePending`, and for an `every` that is no duration.
 *
 * @example
 * const synchronizing = startSynchronizing(store, { onError: (error, change) => log.error({ error, change }) })
 * process.once('SIGTERM', async () => {
 *   await synchronizing.stop()
 *   await pool.end()
 * })
 */
export function startSynchronizing(
  store: Synchronizable,
  { every = DEFAULT_EVERY, onError }: StartSynchronizingOptions = {},
): { stop(): Promise<void> } {
  requireTimeLimit('every', every)
  if (typeof store?.synchronizePending !== 'function') {
    throw new TypeError('The store has no method "synchronizePending"; all bundled stores have')
  }
  let isStopped = false
  let pause = every
  let sweeping: Promise<void> = Promise.resolve()
  let timer = schedule(0)

  function schedule(milliseconds: number) {
    const scheduled = setTimeout(() => {
      sweeping = sweep()
    }, milliseconds)
    // In browsers and Workers a timer is a number, and does not keep anything alive.
    if (typeof scheduled === 'object') scheduled.unref()
    return scheduled
  }

  async function sweep(): Promise<void> {
    pause = (await drain()) ? every : Math.max(every, Math.min(2 * pause, LONGEST_PAUSE))
    if (!isStopped) timer = schedule(pause)
  }

  /** @returns Whether the last sweep met no failure, or something went through before. */
  async function drain(): Promise<boolean> {
    let hasGoneThrough = false
    while (!isStopped) {
      try {
        const { synchronized, failed } = await store.synchronizePending({ onError })
        if (synchronized === 0) return hasGoneThrough || failed === 0
        hasGoneThrough = true
      } catch (error) {
        ignoreErrors(onError)(error)
        return false
      }
    }
    return true
  }

  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
      return sweeping
    },
  }
}
