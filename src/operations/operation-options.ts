import { requireOptions } from '../options.ts'
import { CALL_TIME_LIMIT, createDeadline, type Deadline, timeLimitRule } from '../time/deadline.ts'

/** Options of every operation. */
export interface OperationOptions {
  /** How many milliseconds the call may wait for the store in total. Default 30,000. */
  timeLimit?: number | undefined
}

/**
 * Checks the options of a call, and starts its time limit.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 */
export function startDeadline(options: OperationOptions): Deadline {
  requireOptions(options, { timeLimit: timeLimitRule })
  return createDeadline(options.timeLimit ?? CALL_TIME_LIMIT)
}
