import type { Deadline } from '../deadline.ts'

/**
 * What another transaction may do to ours, and what the same work is expected to get past the next time: SQLSTATE, by
 * PostgreSQL's documentation, appendix A.
 */
const conflicts = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '23505', // unique_violation: another call came first with a registrable domain that was new to both
  '55P03', // lock_not_available: the host's own lock_timeout is shorter than the time that a call has
])

const FIRST_PAUSE = 5
const LONGEST_PAUSE = 200

/** Runs work again after a conflict, after pauses of random length, as long as there is time. */
export async function retryConflicts<T>(
  deadline: Deadline,
  work: () => Promise<T>,
  isConflict: (error: unknown) => boolean = isRetryable,
): Promise<T> {
  for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
    try {
      return await work()
    } catch (error) {
      const pause = Math.random() * longest
      if (!isConflict(error) || deadline.remaining() <= pause) throw error
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
}

const isRetryable = (error: unknown) => hasCode(error, conflicts)

/** Whether an error has one of these SQLSTATEs. */
export const hasCode = (error: unknown, codes: ReadonlySet<string>) =>
  typeof error === 'object' && error !== null && 'code' in error && codes.has(String(error.code))
