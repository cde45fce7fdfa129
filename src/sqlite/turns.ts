import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { explainFailure, isLocked } from './failures.ts'

/**
 * Runs synchronous work, and retries it while another connection holds the lock. Pauses do not block the event loop,
 * as SQLite's own waiting would.
 *
 * @param timeLimit In milliseconds.
 * @throws {Error} that explains the failure of SQLite.
 */
export function takeTurn<T>(timeLimit: number, work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (!isLocked(error)) throw explainFailure(error)
    return tryAgain(createDeadline(timeLimit), work, error)
  }
}

/** In milliseconds. Pauses are random, so that waiting processes do not all retry at once. */
const LONGEST_PAUSE = 20

async function tryAgain<T>(deadline: Deadline, work: () => T, lock: unknown): Promise<T> {
  let failure = lock
  while (isLocked(failure) && deadline.remaining() > 0) {
    await new Promise(resolve => setTimeout(resolve, Math.min(Math.random() * LONGEST_PAUSE, deadline.remaining())))
    try {
      return work()
    } catch (error) {
      failure = error
    }
  }
  throw explainFailure(failure)
}
