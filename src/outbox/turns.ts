import type { Deadline } from '../time/deadline.ts'

/** Lets at most `most` calls and sweeps push at once. The others wait in line. */
export function createTurns(most: number) {
  let free = most
  /** For each waiting call or sweep, in order: a function that begins its turn. */
  const waiting = new Set<() => void>()

  function leave(): void {
    const [begin] = waiting
    if (!begin) free += 1
    else {
      waiting.delete(begin)
      begin()
    }
  }

  async function wait(deadline: Deadline, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return false
    let begin = () => {}
    let abort = () => {}
    const turn = new Promise<void>((resolve, reject) => {
      begin = resolve
      abort = () => reject(signal?.reason)
    })
    waiting.add(begin)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await deadline.wait(turn)
      return true
    } catch {
      // If the turn began at the moment at which the wait ended, the next one in line gets it.
      if (!waiting.delete(begin)) leave()
      return false
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    /** Resolves to whether the turn came before the deadline, and before `signal` was aborted. */
    enter(deadline: Deadline, signal: AbortSignal | undefined): boolean | Promise<boolean> {
      if (free === 0) return wait(deadline, signal)
      free -= 1
      return true
    },
    /** Ends a turn, and begins the next one. */
    leave,
  }
}
