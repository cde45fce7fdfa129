import { internalError, tooManyRequests } from '../api-errors.ts'
import type { Deadline } from '../deadline.ts'
import { DEFAULT_POLICY, type RateLimitState, toRateLimitFields, toSeconds } from './rate-limit-fields.ts'
import type { RateLimiter, RateLimiterFailure, RateLimiterResult } from './rate-limiter.ts'

export interface RateLimit {
  readonly limiter: RateLimiter
  readonly failure: RateLimiterFailure
  /** Called with the cause if the limiter failed and the call goes on. */
  readonly onError: (cause: unknown) => void
}

/** Seconds in `Retry-After` if the limiter knows no end, as with a `duration` of 0. */
const RETRY_AFTER_UNKNOWN = 3600

/**
 * Takes one point for a call.
 *
 * @returns The header fields for the caller (draft-ietf-httpapi-ratelimit-headers-11); none if the limiter failed and
 *   `failure` is `allow`.
 * @throws {ApiError} 429 `too_many_requests` with `Retry-After`; 500 `internal_error` if the limiter failed and
 *   `failure` is `refuse`. Not 503, which means that something was saved.
 */
export async function consumeRateLimit(
  { limiter, failure, onError }: RateLimit,
  key: string,
  deadline: Deadline,
): Promise<Record<string, string>> {
  let outcome: { isAllowed: boolean; state: RateLimitState }
  try {
    outcome = await consume(limiter, key, deadline)
  } catch (cause) {
    if (failure === 'refuse') {
      throw internalError('The rate limit could not be checked; nothing was registered.', cause)
    }
    onError(cause)
    return {}
  }
  const fields = toRateLimitFields(limiter, outcome.state)
  if (outcome.isAllowed) return fields
  const waits = outcome.state.map(([, { msBeforeNext }]) => toSeconds(msBeforeNext) ?? RETRY_AFTER_UNKNOWN)
  throw tooManyRequests(Math.max(1, ...waits), fields)
}

async function consume(limiter: RateLimiter, key: string, deadline: Deadline) {
  let isAllowed = true
  let answer: unknown
  try {
    answer = await deadline.wait(limiter.consume(key, 1))
  } catch (reason) {
    isAllowed = false
    answer = reason
  }
  const state = toRateLimitState(answer)
  if (state.length > 0) return { isAllowed, state }
  if (answer instanceof Error) throw answer
  throw new TypeError('The rate limiter gave no msBeforeNext and remainingPoints', { cause: answer })
}

/**
 * Empty for anything that is not an answer of a limiter. A union answers for each limit; those that failed are passed
 * over.
 */
function toRateLimitState(answer: unknown): RateLimitState {
  if (isResult(answer)) return [[DEFAULT_POLICY, answer]]
  if (typeof answer !== 'object' || answer === null) return []
  return Object.entries(answer).filter((entry): entry is [string, RateLimiterResult] => isResult(entry[1]))
}

function isResult(value: unknown): value is RateLimiterResult {
  const { msBeforeNext, remainingPoints } = (value ?? {}) as Partial<RateLimiterResult>
  return isNumber(msBeforeNext) && isNumber(remainingPoints)
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value)
