import { requireOptions } from '../options.ts'
import { CALL_TIME_LIMIT, createDeadline, type Deadline, timeLimitRule } from '../time/deadline.ts'

/** What every operation takes beside the call itself. */
export interface OperationOptions {
  /** How many milliseconds the call may wait for the store, all its steps together. Default 30,000. */
  timeLimit?: number | undefined
}

/**
 * Begins the time of a call.
 *
 * @throws {TypeError} for an option that is wrong or does not exist.
 */
export function startDeadline(options: OperationOptions): Deadline {
  requireOptions(options, { timeLimit: timeLimitRule })
  return createDeadline(options.timeLimit ?? CALL_TIME_LIMIT)
}
