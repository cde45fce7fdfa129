import { optional, type Rule } from '../options.ts'
import type { Awaitable } from './awaitable.ts'

/** The time that a call may still wait for the store. */
export interface Deadline {
  /** The limit that was set, in milliseconds. Errors mention it. */
  readonly timeLimit: number
  /** Milliseconds left; never below 0. */
  remaining(): number
  /**
   * Waits for a promise, for at most `limit` milliseconds and never past the deadline. A value that is not a promise is
   * returned unchanged, without a timer.
   *
   * @throws {TimeLimitError} when the wait times out. The work behind the promise continues; its outcome is ignored.
   */
  wait<T>(value: Awaitable<T>, limit?: number): Awaitable<T>
}

export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * For how many milliseconds a call may wait for the key store and the limiter together, and after that again for the
 * store.
 */
export const CALL_TIME_LIMIT = 30_000

/** The resolution of timers, in milliseconds. */
export const SHORTEST_TIMER = 1

/**
 * The longest delay of a timer: all runtimes store delays in 32 bits. With a longer delay, or with `NaN`, a timer would
 * fire at once.
 */
const LONGEST_TIMER = 2 ** 31 - 1

export const timeLimitRule: Rule = {
  holds: optional(value => typeof value === 'number' && value > 0 && value <= LONGEST_TIMER),
  expected: `a number of milliseconds above 0 and at most ${LONGEST_TIMER}, such as 30000`,
}

/** @param timeLimit The limit that was set, if `milliseconds` is only a part of that limit. */
export function createDeadline(milliseconds: number, timeLimit = milliseconds): Deadline {
  const end = performance.now() + milliseconds
  const remaining = () => Math.max(0, end - performance.now())
  function explain(limit: number): string {
    const waited = limit < remaining() ? limit : milliseconds
    return waited < timeLimit
      ? `No response within ${Math.round(waited)} ms, a part of the time limit of ${timeLimit} ms`
      : `No response within the time limit of ${timeLimit} ms`
  }
  return {
    timeLimit,
    remaining,
    wait(value, limit = Number.POSITIVE_INFINITY) {
      return isPromiseLike(value) ? settleWithin(value, Math.min(limit, remaining()), explain(limit)) : value
    },
  }
}

/**
 * Waits for a store. No deadline is applied to a store that works in the application's transaction, because such a
 * store enforces the time limit itself. With a deadline, the application could end its transaction while the store is
 * still working.
 */
export const waitForStore = <T>(
  { isInTransaction }: { readonly isInTransaction?: boolean },
  answer: Awaitable<T>,
  deadline: Deadline,
  limit?: number,
): Awaitable<T> => (isInTransaction ? answer : deadline.wait(answer, limit))

/** Whether a value is not there yet. */
function isPromiseLike<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
}

/** Unlike {@link runWithin}, this function also works while another package has polluted `Object.prototype`. */
function settleWithin<T>(value: PromiseLike<T>, milliseconds: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError(message)), Math.min(milliseconds, LONGEST_TIMER))
    // If a thenable throws an error, `Promise.resolve` turns it into a rejection.
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** When to stop waiting for work. */
interface Limits {
  readonly milliseconds: number
  /** The message of the error that is thrown when the time limit is reached. */
  readonly message: string
  /** Ends the wait earlier. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls `work`, and waits until it settles or a limit is reached. The signal that `work` gets is aborted when a limit
 * is reached. If `work` ignores that signal and continues, its outcome is ignored.
 *
 * @throws {TimeLimitError} when the wait times out.
 * @throws The reason of `signal`, once this signal is aborted. If `signal` is aborted from the start, `work` is not
 *   called.
 */
export async function runWithin<T>(
  { milliseconds, message, signal }: Limits,
  work: (signal: AbortSignal) => Awaitable<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => controller.abort(new TimeLimitError(message)), Math.ceil(milliseconds))
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  const run = async () => work(controller.signal)
  try {
    return await Promise.race([aborted, run()])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
