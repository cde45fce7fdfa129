import type { Deadline } from '../time/deadline.ts'

/**
 * Lets calls that lock the same registrable domains wait in memory. In the database, each waiting call would occupy a
 * connection.
 */
export interface Queues {
  /**
   * Calls `work` once it is the call's turn for each of the registrable domains. Calls get their turns in the order in
   * which they arrive.
   *
   * @param registrableDomains In ascending order, so two calls cannot wait for each other.
   * @throws {TimeLimitError} if the call times out before `work` is called.
   */
  run<T>(registrableDomains: readonly string[], deadline: Deadline, work: () => Promise<T>): Promise<T>
}

/**
 * How many calls for one registrable domain run at once. The first call holds the lock. The second call already waits
 * for the lock in the database, so it gets the lock as soon as the first call ends.
 */
const RUNNING = 2

interface LockQueue {
  running: number
  /** For each waiting call, in order: a function that starts the call. */
  readonly waiting: Set<() => void>
}

export function createQueues(): Queues {
  /** The queues of all registrable domains that running calls lock or wait for. */
  const queues = new Map<string, LockQueue>()

  /** @returns A promise only if the call has to wait. */
  function enter(key: string, deadline: Deadline): Promise<void> | undefined {
    const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
    queues.set(key, queue)
    if (queue.running === RUNNING) return wait(key, queue, deadline)
    queue.running += 1
    return undefined
  }

  async function wait(key: string, { waiting }: LockQueue, deadline: Deadline): Promise<void> {
    let start = () => {}
    const turn = new Promise<void>(resolve => {
      start = resolve
    })
    waiting.add(start)
    try {
      await deadline.wait(turn)
    } catch (error) {
      // If the call got its turn at the moment when it timed out, the next call gets the turn instead.
      if (!waiting.delete(start)) leave(key)
      throw error
    }
  }

  /** Ends the turn of a call, and starts the next call. */
  function leave(key: string): void {
    const queue = queues.get(key) as LockQueue
    const [start] = queue.waiting
    if (start) {
      queue.waiting.delete(start)
      start()
      return
    }
    queue.running -= 1
    if (queue.running === 0) queues.delete(key)
  }

  return {
    async run(registrableDomains, deadline, work) {
      const entered: string[] = []
      try {
        for (const key of new Set(registrableDomains)) {
          const turn = enter(key, deadline)
          if (turn) await turn
          entered.push(key)
        }
        return await work()
      } finally {
        for (const key of entered) leave(key)
      }
    },
  }
}
