import type { Deadline } from '../time/deadline.ts'

/**
 * The SQLSTATEs of failures that save nothing, and after which a retry may succeed (PostgreSQL documentation, appendix
 * A).
 */
const conflicts = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '25P03', // idle_in_transaction_session_timeout; postgres.js reports it to the next transaction as well
])

/**
 * unique_violation. Either the call violates one of the application's constraints, or another process has just
 * registered the name. The lock does not prevent this if the other process uses another version of the Public Suffix
 * List, because that process then locks another registrable domain.
 */
const duplicate = new Set(['23505'])
const MOST_DUPLICATES = 3

const FIRST_PAUSE = 5
const LONGEST_PAUSE = 200

/** Calls `work`, and repeats it after each conflict while there is time, with exponential backoff and jitter. */
export async function retryConflicts<T>(
  deadline: Deadline,
  work: () => Promise<T>,
  isConflict: (error: unknown, attempt: number) => boolean = isRetryable,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const pause = Math.random() * Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
      if (!isConflict(error, attempt) || deadline.remaining() <= pause) throw error
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
}

const isRetryable = (error: unknown, attempt: number) =>
  hasCode(error, conflicts) || (attempt < MOST_DUPLICATES && hasCode(error, duplicate))

/** Whether an error, or one of its nested causes, has one of these SQLSTATEs. */
export const hasCode = (error: unknown, codes: ReadonlySet<string>): boolean => findCode(error, codes) !== undefined

/**
 * How many nested causes to search: more than any ORM produces. The limit ends the search if an error is its own cause.
 */
const DEEPEST = 8

/** An error that wraps another one. Prisma uses `originalCode` and `meta`. */
interface Wrapping {
  readonly code?: unknown
  readonly originalCode?: unknown
  readonly cause?: unknown
  readonly meta?: { readonly driverAdapterError?: unknown } | undefined
}

export function findCode(error: unknown, codes: ReadonlySet<string>): string | undefined {
  let cause = error as Wrapping | null | undefined
  for (let depth = 0; depth < DEEPEST && typeof cause === 'object' && cause !== null; depth += 1) {
    const found = [cause.code, cause.originalCode].map(String).find(code => codes.has(code))
    if (found !== undefined) return found
    cause = (cause.cause ?? cause.meta?.driverAdapterError) as Wrapping | null | undefined
  }
  return undefined
}
