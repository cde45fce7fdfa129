import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { isFunction, optional, requireOptions } from '../options.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { startLoop } from '../time/loop.ts'
import { onErrorRule, type SweepOptions, type SweepResult, type SynchronizationErrorHandler } from './contract.ts'

/** Options of {@link startSynchronizing}. */
export interface StartSynchronizingOptions {
  /**
   * Milliseconds between two sweeps. Default 10,000. While every push fails, the interval grows to a minute. If the
   * monitor accepts some changes and then says when to retry, the next sweep begins at that time, but after a minute at
   * the latest.
   */
  interval?: number | undefined
  /**
   * Called instead of the store's own `onError`, and also with failures of the store itself. Default: the store's
   * `onError`; failures of the store itself are logged to the console.
   */
  onError?: SynchronizationErrorHandler | undefined
  /** Called with the result of each sweep, for metrics. If this function throws or rejects, the error is ignored. */
  onSweep?: ((result: SweepResult) => unknown) | undefined
}

/** A loop of sweeps. */
export interface Synchronizing {
  /**
   * Ends the loop. Resolves when the current sweep has ended, but after `timeLimit` milliseconds at the latest. The
   * default is 10,000. The current push is aborted one second before the time limit, or after half of the time if the
   * limit is under two seconds. The store can then make the changes of that push due again, so the next sweep pushes
   * them.
   *
   * @throws {TypeError} if the time limit is invalid.
   */
  stop(options?: { readonly timeLimit?: number | undefined }): Promise<void>
}

const DEFAULT_INTERVAL = 10_000
const DEFAULT_STOP_TIME_LIMIT = 10_000
/** The longest pause after sweeps that failed, in milliseconds, unless `interval` is longer. */
const LONGEST_PAUSE = 60_000
/** Milliseconds by which the timers of this process may be ahead of the store's clock. */
const CLOCKS_DIFFER = 10
/** The maximum time that a sweep needs to end after its push was aborted, in milliseconds. */
const ABORTED_WITHIN = 1000

/**
 * Sweeps a store in a loop, so that changes are pushed even if no caller retries. The loop sweeps at once, continues
 * while there is more to push, and then sweeps every few seconds. Any number of processes may run such a loop on one
 * database; they share the work. The sweeps of one loop never overlap. The loop does not keep the process alive.
 *
 * @throws {TypeError} if the store has no `synchronizePending`, or an option is invalid or unknown.
 *
 * @example
 * const synchronizing = startSynchronizing(store, { onError: (error, change) => log.error({ error, change }) })
 * process.once('SIGTERM', async () => {
 *   await synchronizing.stop({ timeLimit: 5000 })
 *   await pool.end()
 * })
 */
export function startSynchronizing(
  store: { synchronizePending(options?: SweepOptions): Promise<SweepResult> },
  options: StartSynchronizingOptions = {},
): Synchronizing {
  requireOptions(options, {
    interval: timeLimitRule,
    onError: onErrorRule,
    onSweep: { holds: optional(isFunction), expected: 'a function that takes the result of a sweep' },
  })
  if (typeof store?.synchronizePending !== 'function') {
    throw new TypeError('The store has no method "synchronizePending"; all bundled stores have it')
  }
  const { interval = DEFAULT_INTERVAL, onError, onSweep } = options
  const stopping = new AbortController()
  let isStopped = false
  const logFailure = createFailureLog()
  const log = (error: unknown) => logFailure(error, { step: 'sweeping the store' })
  let pause = interval

  const loop = startLoop(async () => {
    const { hasFailed, retryAfter = 0 } = await drain()
    pause = hasFailed ? Math.max(interval, Math.min(2 * pause, LONGEST_PAUSE)) : interval
    // If a gateway has said when to retry, the loop need not wait for the whole interval.
    const asked = retryAfter > 0 ? Math.min(retryAfter + CLOCKS_DIFFER, LONGEST_PAUSE) : pause
    return hasFailed ? Math.max(pause, asked) : asked
  })

  /** Sweeps again as long as changes are pushed. `hasFailed`: some changes were due, but none was pushed. */
  async function drain(): Promise<{ readonly hasFailed: boolean; readonly retryAfter?: number | undefined }> {
    let hasSynchronized = false
    while (!isStopped) {
      try {
        const result = await store.synchronizePending({ onError, signal: stopping.signal })
        ignoreErrors(onSweep)(result)
        const { synchronized, failed, unavailable } = result
        hasSynchronized ||= synchronized > 0
        if (synchronized === 0 || unavailable)
          return { hasFailed: failed > 0 && !hasSynchronized, retryAfter: unavailable?.retryAfter }
        if (!isStopped) await letOthersRun()
      } catch (error) {
        ignoreErrors(onError ?? log)(error)
        return { hasFailed: true }
      }
    }
    return { hasFailed: false }
  }

  return {
    async stop(options = {}) {
      requireOptions(options, { timeLimit: timeLimitRule })
      const { timeLimit = DEFAULT_STOP_TIME_LIMIT } = options
      isStopped = true
      const abort = () => stopping.abort(new Error('Synchronizing was stopped'))
      const aborting = setTimeout(abort, timeLimit - Math.min(ABORTED_WITHIN, timeLimit / 2))
      await loop.stop(timeLimit)
      clearTimeout(aborting)
    },
  }
}
