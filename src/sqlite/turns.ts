import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { explainFailure, isLocked } from './failures.ts'

/**
 * Runs synchronous work at once, or as soon as other connections let go of the database. Between tries the process goes
 * on with other things: SQLite itself would wait with everything standing still.
 *
 * @param timeLimit Milliseconds.
 * @throws {Error} that explains what SQLite failed with.
 */
export function takeTurn<T>(timeLimit: number, work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (!isLocked(error)) throw explainFailure(error)
    return tryAgain(createDeadline(timeLimit), work, error)
  }
}

/** Milliseconds. At random, so that many who wait do not come at the same time. */
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
