import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { isFunction, optional, requireOptions } from '../options.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { startLoop } from '../time/loop.ts'
import { type RetryWaitingOptions, type RetryWaitingResult, retryRules, retryWaiting } from './retry-waiting.ts'

/** Options of {@link startRetrying}. */
export interface StartRetryingOptions extends Omit<RetryWaitingOptions, 'signal'> {
  /** Milliseconds between two sweeps. Default 10,000. */
  interval?: number | undefined
  /** Called with the result of each sweep, for metrics. If this function throws or rejects, the error is ignored. */
  onSweep?: ((result: RetryWaitingResult) => unknown) | undefined
}

/** A loop of sweeps. */
export interface Retrying {
  /**
   * Ends the loop. Resolves when the calls under way have ended, but after `timeLimit` milliseconds at the latest; the
   * default is 10,000. Names whose call did not end are due again after some minutes.
   */
  stop(options?: { readonly timeLimit?: number | undefined }): Promise<void>
}

/**
 * Tries the names that wait in a loop; see {@link retryWaiting}. Any number of processes may run such a loop on one
 * database; they share the work. The loop does not keep the process alive.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const retrying = startRetrying({ store, waiting, checkNames, onSettled: names => mailTo(names) })
 * process.once('SIGTERM', () => retrying.stop())
 */
export function startRetrying(options: StartRetryingOptions): Retrying {
  const { signal: _, ...rules } = retryRules
  const onSweepRule = { holds: optional(isFunction), expected: 'a function that takes the result of a sweep' }
  requireOptions(options, { ...rules, interval: timeLimitRule, onSweep: onSweepRule })
  const { interval = 10_000, onSweep, ...retry } = options
  const log = createFailureLog()
  const { onError = (error: unknown) => log(error, { step: 'retrying names that wait' }) } = retry
  const stopping = new AbortController()

  const loop = startLoop(async () => {
    try {
      ignoreErrors(onSweep)(await retryWaiting({ ...retry, onError, signal: stopping.signal }))
    } catch (error) {
      ignoreErrors(onError)(error)
    }
    return interval
  })

  return {
    async stop(options = {}) {
      requireOptions(options, { timeLimit: timeLimitRule })
      stopping.abort()
      await loop.stop(options.timeLimit ?? 10_000)
    },
  }
}
