import type { Awaitable } from '../time/awaitable.ts'
import { explainFailure, isLocked } from './failures.ts'

/** The queue of calls that want to write to a database. */
export interface Turns {
  /**
   * Runs work at once, or when earlier calls are done and no other connection holds the write lock.
   *
   * @param timeLimit Milliseconds that the work may wait.
   * @throws {Error} that explains the failure of SQLite.
   */
  take<T>(work: () => T, timeLimit: number): Awaitable<T>
  /** Runs work that only reads: it skips the queue, unless SQLite says that it must wait. */
  takeFirst<T>(work: () => T, timeLimit: number): Awaitable<T>
}

/** In milliseconds. Pauses are random, so waiting processes do not all retry at once. */
const LONGEST_PAUSE = 10

/**
 * While the lock is held, only the first call in the queue retries, with pauses in between, so the event loop runs even
 * if many calls wait. SQLite's own waiting would block it.
 */
export function createTurns(): Turns {
  /** Each call tries once, and returns whether its turn is over. */
  const line: (() => boolean)[] = []
  let isServing = false
  let lock: unknown = new Error('database is locked')

  function tryAtOnce<T>(work: () => T, timeLimit: number): Awaitable<T> {
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
      const isOver = line[0]?.()
      if (isOver) line.shift()
      pause = isOver ? 0 : Math.random() * LONGEST_PAUSE
    }
    isServing = false
  }

  return {
    take: (work, timeLimit) => (line.length > 0 ? wait : tryAtOnce)(work, timeLimit),
    takeFirst: tryAtOnce,
  }
}
