import type { Deadline } from '../time/deadline.ts'
import { createTeamLines } from '../time/team-lines.ts'

/** A call or a sweep that wants to push. */
interface Pusher {
  /** The team of a call; absent for a sweep. */
  readonly teamId?: string | undefined
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
}

/**
 * Lets at most `most` calls and sweeps push at once. The others wait, and the teams take turns; sweeps count as a team.
 * If 10,000 calls of a team wait, the next one gets no turn: its changes are saved, and a sweep pushes them.
 */
export function createTurns(most: number) {
  let free = most
  /** Functions that begin a turn. */
  const waiting = createTeamLines<() => void>()

  function leave(): void {
    const begin = waiting.take()
    if (begin) begin()
    else free += 1
  }

  async function wait({ teamId = '', deadline, signal }: Pusher): Promise<boolean> {
    if (signal?.aborted) return false
    let begin = () => {}
    let abort = () => {}
    const turn = new Promise<void>((resolve, reject) => {
      begin = resolve
      abort = () => reject(signal?.reason)
    })
    if (!waiting.add(teamId, begin)) return false
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await deadline.wait(turn)
      return true
    } catch {
      // If the turn began at the moment at which the wait ended, the next one in line gets it.
      if (!waiting.delete(teamId, begin)) leave()
      return false
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    /** Resolves to whether the turn came before the deadline, and before `signal` was aborted. */
    enter(pusher: Pusher): boolean | Promise<boolean> {
      if (free === 0) return wait(pusher)
      free -= 1
      return true
    },
    /** Ends a turn, and begins the next one. */
    leave,
  }
}
