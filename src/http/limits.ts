import { internalError, tooManyRequests } from '../errors/call-errors.ts'
import type { Deadline } from '../time/deadline.ts'

/** The state of a limit. `consume` resolves to this object, or rejects with it if no points remain. */
export interface RateLimiterResult {
  /** Milliseconds until points are available again. Negative if that time is unknown. */
  readonly msBeforeNext: number
  readonly remainingPoints: number
}

/**
 * A limiter with the interface of the package `rate-limiter-flexible`: `RateLimiterMemory`, `RateLimiterPostgres` and
 * the other stores, and `BurstyRateLimiter`.
 *
 * The limiter limits callers by API key. A caller without a valid key gets 401 before the limiter is called. To limit
 * callers without a valid key as well, add a limiter by IP address in front of the API.
 *
 * If the limiter fails, or does not respond within the time limit, the call gets 500. To let calls continue while the
 * limiter's store is away, give the limiter an `insuranceLimiter`, which then counts in memory.
 *
 * @example
 * import { RateLimiterMemory } from 'rate-limiter-flexible'
 * createHandler({ store, keys, rateLimiter: new RateLimiterMemory({ points: 60, duration: 60 }) })
 */
export interface RateLimiter {
  /**
   * Consumes a point for a key. Rejects with a {@link RateLimiterResult} if no point remains, and with an error if the
   * limit cannot be checked.
   *
   * @param key The SHA-256 of the API key in hex, never the key itself. If you pass your own `authenticate`, the
   *   limiter gets `organization:<id>` or `team:<id>` instead, so all calls of the same owner count together.
   */
  consume(key: string, points?: number): Promise<RateLimiterResult>
  /** Points in a window. Sent in `RateLimit-Policy`. */
  readonly points?: number | undefined
  /** Seconds in a window. */
  readonly duration?: number | undefined
}

/**
 * Consumes a point of the caller's limit.
 *
 * @returns The headers for the caller.
 * @throws {ApiError} 429 `too_many_requests` with `Retry-After` if no point remains; 500 `internal_error` if the
 *   limiter failed. Never 503, which would tell the caller that registrations were saved.
 */
export async function consumePoint(
  limiter: RateLimiter,
  key: string,
  deadline: Deadline,
): Promise<Record<string, string>> {
  const consume = async () => deadline.wait(limiter.consume(key, 1))
  const { answer, isAllowed } = await consume().then(
    answer => ({ answer, isAllowed: true }),
    (answer: unknown) => ({ answer, isAllowed: false }),
  )
  const result = toResult(answer)
  const fields = toFields(limiter, result)
  if (isAllowed) return fields
  throw tooManyRequests(toSeconds(result.msBeforeNext) ?? RETRY_AFTER_UNKNOWN, fields)
}

/** Seconds in `Retry-After` if the limiter gives no reset time, for example because its `duration` is 0. */
const RETRY_AFTER_UNKNOWN = 3600

/** A limiter may count in `bigint`. */
function toResult(answer: unknown): RateLimiterResult {
  const { msBeforeNext, remainingPoints } = (answer ?? {}) as Partial<RateLimiterResult>
  if (isNumber(msBeforeNext) && isNumber(remainingPoints)) {
    return { msBeforeNext: Number(msBeforeNext), remainingPoints: Number(remainingPoints) }
  }
  const message = 'The rate limiter must return msBeforeNext and remainingPoints'
  const cause = answer instanceof Error ? answer : new TypeError(message, { cause: answer })
  throw internalError('The rate limit could not be checked; nothing was changed.', cause)
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value))

/** The name of the limit, as in the examples of the draft. */
const POLICY = '"default"'

/**
 * Returns the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11 of 2026-05-23, sections 3
 * and 4). The headers omit the partition key, because the caller already knows which API key it sent. A limiter that
 * never restores points has no window.
 */
function toFields({ points, duration }: RateLimiter, { remainingPoints, msBeforeNext }: RateLimiterResult) {
  const seconds = toSeconds(msBeforeNext)
  const window = Number(duration) > 0 ? `;w=${toInteger(Math.ceil(Number(duration)))}` : ''
  return {
    ...(Number(points) >= 0 && { 'RateLimit-Policy': `${POLICY};q=${toInteger(Number(points))}${window}` }),
    RateLimit: `${POLICY};r=${toInteger(remainingPoints)}${seconds === null ? '' : `;t=${seconds}`}`,
  }
}

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

const toInteger = (value: number) => String(Math.min(MAX_INTEGER, Math.max(0, Math.floor(value))))

/**
 * Converts milliseconds to whole seconds, rounded up, so a caller does not retry too early. Returns `null` if no reset
 * time is known.
 */
function toSeconds(milliseconds: number): number | null {
  if (milliseconds < 0 || milliseconds === Number.POSITIVE_INFINITY) return null
  return Math.min(MAX_INTEGER, Math.max(1, Math.ceil(milliseconds / 1000)))
}
