import { requireTimeLimit } from './deadline.ts'
import { harmless } from './harmless.ts'
import type { SweepOptions, SweepResult, SynchronizationErrorHandler } from './registry/store.ts'

/** A store that can push what waits, such as all bundled ones. */
export interface Synchronizable {
  /** Pushes what waits, once; see {@link SweepResult}. */
  synchronizePending(options?: SweepOptions): PromiseLike<SweepResult>
}

/** What {@link startSynchronizing} takes. */
export interface StartSynchronizingOptions {
  /** Milliseconds between two sweeps. Default 10,000. While nothing goes through it is longer, up to a minute. */
  every?: number | undefined
  /**
   * Learns of each change that was refused, as the store's own `onError` would, and of a store that could not be asked.
   * Default: the store's `onError` learns of changes, and nobody of the store.
   */
  onError?: SynchronizationErrorHandler | undefined
}

const DEFAULT_EVERY = 10_000
/** Between two sweeps while nothing goes through. */
const LONGEST_PAUSE = 60_000

/**
 * Pushes what waits in a store, again and again, so that nothing waits for a caller to retry: begins at once, goes on
 * while something goes through, and then sweeps every few seconds. Any number of processes may do so over one database;
 * they share the work. Two sweeps of one loop never run at once.
 *
 * The loop does not keep the process alive.
 *
 * @returns `stop`, which ends the loop and resolves once the sweep that is under way is over.
 * @throws {TypeError} for a store without `synchronizePending`, and for an `every` that is no time.
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
    // A number in browsers and in Workers, which end as they like.
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
        harmless(onError)(error)
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
