import { type Deadline, TimeLimitError } from '../../time/deadline.ts'

/**
 * How many nested causes to search: more than any ORM produces. The limit ends the search if an error is its own cause.
 */
const DEEPEST = 8

/** An error that wraps another one. Prisma uses `originalCode` and `meta`. Bun has the SQLSTATE in `errno`. */
interface Wrapping {
  readonly code?: unknown
  readonly originalCode?: unknown
  readonly errno?: unknown
  readonly cause?: unknown
  readonly meta?: { readonly driverAdapterError?: unknown } | undefined
}

/** Returns the codes of an error and of its nested causes: SQLSTATEs, and codes of Node.js and of drivers. */
function codesOf(error: unknown): string[] {
  const codes: unknown[] = []
  let cause = error as Wrapping | null | undefined
  for (let depth = 0; depth < DEEPEST && typeof cause === 'object' && cause !== null; depth += 1) {
    codes.push(cause.code, cause.originalCode, cause.errno)
    cause = (cause.cause ?? cause.meta?.driverAdapterError) as Wrapping | null | undefined
  }
  return codes.filter(code => typeof code === 'string')
}

type Codes = Pick<ReadonlySet<string>, 'has'>

/** Returns the first of these codes that an error, or one of its nested causes, has. */
export const findCode = (error: unknown, codes: Codes): string | undefined =>
  codesOf(error).find(code => codes.has(code))

/** Whether an error, or one of its nested causes, has one of these codes. */
export const hasCode = (error: unknown, codes: Codes): boolean => findCode(error, codes) !== undefined

/** The codes with which a connection ends that had been open. */
const ends = new Set([
  '08000', // connection_exception
  '08003', // connection_does_not_exist
  '08006', // connection_failure
  '08P01', // protocol_violation: a pooler has lost its server
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P05', // idle_session_timeout
  'P1017', // Prisma: the server has closed the connection
])

/** The codes with which no connection can be opened. */
const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'CONNECT_TIMEOUT'])

const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** Whether a statement failed because its connection had ended: the server did not answer with an error of its own. */
function isLost(error: unknown): boolean {
  if (error instanceof TimeLimitError || error instanceof TypeError) return false
  const codes = codesOf(error)
  if (codes.some(code => ends.has(code))) return true
  return !codes.some(code => SQLSTATE.test(code) || unreachable.has(code))
}

/** The SQLSTATEs of statements whose prepared form is of no use. The same statement succeeds without a name. */
export const staleStatements = new Set([
  '26000', // invalid_sql_statement_name: somebody has deallocated our prepared statements
  '42P05', // duplicate_prepared_statement: a pooler has swapped the session
  '0A000', // feature_not_supported: the cached plan must not change its result type
])

export interface Attempt {
  /** Whether statements may have names. */
  readonly isPrepared: boolean
  /** Whether a lost connection means that nothing was done. */
  isUntouched: boolean
}

/** How many idle connections of a pool may have died, if the pool does not say how many it has. */
export const MOST_IDLE = 10

/**
 * Does on another connection what failed before it did anything: connections may have died while they were idle, and
 * may have lost their prepared statements.
 */
export async function repeat<T>(deadline: Deadline, most: number, work: (attempt: Attempt) => Promise<T>): Promise<T> {
  let isPrepared = true
  for (let left = most; ; left -= 1) {
    const attempt = { isPrepared, isUntouched: false }
    try {
      return await work(attempt)
    } catch (error) {
      const isStale: boolean = isPrepared && hasCode(error, staleStatements)
      const isRepeatable = isStale || (left > 0 && attempt.isUntouched && isLost(error))
      if (!isRepeatable || deadline.remaining() === 0) throw error
      isPrepared &&= !isStale
    }
  }
}
