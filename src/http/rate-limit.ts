import { ApiError } from '../errors.ts'

/** What `consume` tells, in both outcomes. */
export interface RateLimiterResult {
  /** Milliseconds until points are available again. */
  readonly msBeforeNext: number
  readonly remainingPoints: number
}

/** A limiter with the shape of the package `rate-limiter-flexible`. */
export interface RateLimiter {
  /**
   * Takes points from a key's allowance. Rejects with a {@link RateLimiterResult} when it is used up, and with an error
   * when it cannot tell.
   */
  consume(key: string, points?: number): Promise<RateLimiterResult>
  /** Points in a window, and the window's length in seconds; when given, they are told in `RateLimit-Policy`. */
  readonly points?: number
  readonly duration?: number
}

/**
 * Takes one point for a call.
 *
 * @returns The header fields that tell the caller where it stands (draft-ietf-httpapi-ratelimit-headers-10).
 * @throws {ApiError} 429 `too_many_requests` with `Retry-After`; 500 `internal_error` when the limiter fails, for a limit
 *   that cannot be checked must not be passed.
 */
export async function consumeRateLimit(limiter: RateLimiter, key: string): Promise<Record<string, string>> {
  try {
    return toHeaders(limiter, await limiter.consume(key, 1))
  } catch (reason) {
    if (!isRateLimiterResult(reason)) {
      throw new ApiError('internal_error', 'The rate limit could not be checked. Try again later.', { cause: reason })
    }
    const seconds = toSeconds(reason.msBeforeNext)
    throw new ApiError('too_many_requests', `Too many requests with this API key; try again in ${seconds} s.`, {
      headers: { ...toHeaders(limiter, reason), 'Retry-After': String(seconds) },
    })
  }
}

function toHeaders({ points, duration }: RateLimiter, result: RateLimiterResult): Record<string, string> {
  const remaining = Math.max(0, Math.floor(result.remainingPoints))
  return {
    ...(points !== undefined && {
      'RateLimit-Policy': `"default";q=${points}${duration === undefined ? '' : `;w=${duration}`}`,
    }),
    RateLimit: `"default";r=${remaining};t=${toSeconds(result.msBeforeNext)}`,
  }
}

/** Whole seconds, rounded up: a caller that waits as told is not refused again. */
const toSeconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000))

function isRateLimiterResult(value: unknown): value is RateLimiterResult {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value && 'remainingPoints' in value
}
