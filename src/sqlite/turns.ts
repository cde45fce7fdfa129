import type { Awaitable } from '../time/awaitable.ts'
import { explainFailure, isLocked } from './failures.ts'

/** The queue of calls that want to write to a database. */
export interface Turns {
  /**
   * Calls `work` at once if possible, otherwise as soon as earlier calls are done and no other connection holds the
   * write lock.
   *
   * @param timeLimit How long `work` may wait, in milliseconds.
   * @throws {Error} with an explanation, if SQLite fails.
   */
  take<T>(work: () => T, timeLimit: number): Awaitable<T>
  /** Calls `work`, which only reads, ahead of the queue, and waits only if the database is locked. */
  takeFirst<T>(work: () => T, timeLimit: number): Awaitable<T>
}

/**
 * The longest pause between retries, in milliseconds. Pauses are random, so waiting processes do not all retry at once.
 */
const LONGEST_PAUSE = 10

/**
 * Creates a queue. While another connection holds the lock, only the first call in the queue retries, with pauses in
 * between. So the event loop keeps running even if many calls wait. SQLite's busy timeout would block the event loop.
 */
export function createTurns(): Turns {
  /** For each waiting call, in order: a function that attempts the call, and returns whether the call is done. */
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
