import { internalError, tooManyRequests } from '../errors/call-errors.ts'
import type { Deadline } from '../time/deadline.ts'
import type { HandlerSettings } from './options.ts'
import { type RateLimitState, toRateLimitFields, toSeconds } from './rate-limit-fields.ts'
import type { RateLimiter, RateLimiterResult } from './rate-limiter.ts'

type RateLimitOptions = Pick<HandlerSettings, 'rateLimiter' | 'rateLimiterFailure' | 'rateLimitPolicy'>

/** A call that counts towards the limit. */
interface LimitedCall {
  readonly key: string
  readonly deadline: Deadline
  /** Called with the cause if the limiter failed and the call continues. */
  readonly onError: (cause: unknown) => void
}

/** Seconds in `Retry-After` if the limiter gives no reset time, for example because its `duration` is 0. */
const RETRY_AFTER_UNKNOWN = 3600

/**
 * Creates the function that consumes points for a call.
 *
 * @returns The function. Its promise resolves to the headers for the caller (draft-ietf-httpapi-ratelimit-headers-11):
 *   none if there is no limiter, if no points are consumed, or if the limiter failed and `rateLimiterFailure` is
 *   `allow`. The promise rejects with 429 `too_many_requests` and `Retry-After` if too few points remain, or with 500
 *   `internal_error` if the limiter failed and `rateLimiterFailure` is `refuse`; never with 503, which would tell the
 *   caller that registrations were saved.
 */
export function createRateLimit({ rateLimiter, rateLimiterFailure = 'refuse', rateLimitPolicy }: RateLimitOptions) {
  return async (points: number, { key, deadline, onError }: LimitedCall): Promise<Record<string, string>> => {
    if (!rateLimiter || points === 0) return {}
    let outcome: { isAllowed: boolean; state: RateLimitState }
    try {
      outcome = await consume(rateLimiter, key, points, deadline)
    } catch (cause) {
      if (rateLimiterFailure === 'refuse') {
        throw internalError('The rate limit could not be checked; nothing was registered.', cause)
      }
      onError(cause)
      return {}
    }
    const fields = toRateLimitFields(rateLimiter, outcome.state, rateLimitPolicy)
    if (outcome.isAllowed) return fields
    const waits = outcome.state.map(([, { msBeforeNext }]) => toSeconds(msBeforeNext) ?? RETRY_AFTER_UNKNOWN)
    throw tooManyRequests(Math.max(1, ...waits), fields)
  }
}

async function consume(limiter: RateLimiter, key: string, points: number, deadline: Deadline) {
  let isAllowed = true
  let answer: unknown
  try {
    answer = await deadline.wait(limiter.consume(key, points))
  } catch (reason) {
    isAllowed = false
    answer = reason
  }
  const state = toState(answer)
  if (state.length > 0) return { isAllowed, state }
  if (answer instanceof Error) throw answer
  throw new TypeError('The rate limiter must return msBeforeNext and remainingPoints', { cause: answer })
}

/**
 * Reads the result of a limiter. Returns an empty array for a value that is not a result. A union of limiters returns
 * one result for each limit; limits that failed are skipped.
 */
function toState(answer: unknown): RateLimitState {
  const single = toResult(answer)
  if (single) return [[null, single]]
  if (typeof answer !== 'object' || answer === null) return []
  return Object.entries(answer).flatMap(([policy, value]): RateLimitState => {
    const result = toResult(value)
    return result ? [[policy, result]] : []
  })
}

/** Reads the state of one limit. A limiter may count in `bigint`. */
function toResult(value: unknown): RateLimiterResult | null {
  const { msBeforeNext, remainingPoints } = (value ?? {}) as Partial<RateLimiterResult>
  if (!isNumber(msBeforeNext) || !isNumber(remainingPoints)) return null
  return { msBeforeNext: Number(msBeforeNext), remainingPoints: Number(remainingPoints) }
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value))
