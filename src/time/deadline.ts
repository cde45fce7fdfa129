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
   * @throws {TimeLimitError} when it times out. The work behind the promise continues; its outcome is ignored.
   */
  wait<T>(value: Awaitable<T>, limit?: number): Awaitable<T>
}

export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Milliseconds that a call may wait for the key store and the limiter together. After that, it may wait for the store
 * for the same time again.
 */
export const CALL_TIME_LIMIT = 30_000

/** Timers count in 32 bits on every runtime. A longer timer, or one of `NaN` milliseconds, would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1

export const timeLimitRule: Rule = {
  holds: optional(value => typeof value === 'number' && value > 0 && value <= LONGEST_TIMER),
  expected: `a number of milliseconds above 0 and at most ${LONGEST_TIMER}, such as 30000`,
}

/** @param timeLimit The limit that was set. Pass it if `milliseconds` is only a part of it. */
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

function isPromiseLike<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function'
}

function settleWithin<T>(value: PromiseLike<T>, milliseconds: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new TimeLimitError(message))
    }, milliseconds)
    // If a thenable throws an error, `Promise.resolve` turns it into a rejection.
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
