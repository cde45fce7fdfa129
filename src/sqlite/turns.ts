import type { Awaitable } from '../awaitable.ts'
import { explainFailure, isLocked } from './failures.ts'

/** The calls on one database that wait for its write lock, in the order in which they came. */
export interface Turns {
  /**
   * Runs synchronous work at once, or when its turn has come and no other connection holds the lock.
   *
   * @param timeLimit Milliseconds that the work may wait.
   * @throws {Error} that explains the failure of SQLite.
   */
  take<T>(work: () => T, timeLimit: number): Awaitable<T>
  /** Runs work that only reads: it waits for nobody, unless SQLite says that it must. */
  takeFirst<T>(work: () => T, timeLimit: number): Awaitable<T>
}

/** In milliseconds. Pauses are random, so that waiting processes do not all retry at once. */
const LONGEST_PAUSE = 10

/**
 * Only the first one in line tries again while the lock is held, and pauses in between, so that the event loop goes on
 * however many wait. SQLite's own waiting would block it.
 */
export function createTurns(): Turns {
  /** Each tries once, and tells whether it is done. */
  const line: (() => boolean)[] = []
  let isServing = false
  let lock: unknown

  function takeFirst<T>(work: () => T, timeLimit: number): Awaitable<T> {
    try {
      return work()
    } catch (error) {
      if (!isLocked(error)) throw explainFailure(error)
      lock = error
      return wait(work, timeLimit)
    }
  }

  function wait<T>(work: () => T, timeLimit: number): Promise<T> {
    return new Promise((resolve, reject) => {
      function attempt(): boolean {
        try {
          resolve(work())
        } catch (error) {
          if (isLocked(error)) return false
          reject(explainFailure(error))
        }
        clearTimeout(timer)
        return true
      }
      const timer = setTimeout(() => {
        line.splice(line.indexOf(attempt), 1)
        reject(explainFailure(lock))
      }, timeLimit)
      line.push(attempt)
      if (!isServing) void serve()
    })
  }

  async function serve(): Promise<void> {
    isServing = true
    let pause = Math.random() * LONGEST_PAUSE
    while (line.length > 0) {
      await new Promise(resolve => setTimeout(resolve, pause))
      const isDone = line[0]?.()
      if (isDone) line.shift()
      pause = isDone ? 0 : Math.random() * LONGEST_PAUSE
    }
    isServing = false
  }

  return {
    takeFirst,
    take: (work, timeLimit) => (line.length > 0 ? wait(work, timeLimit) : takeFirst(work, timeLimit)),
  }
}
