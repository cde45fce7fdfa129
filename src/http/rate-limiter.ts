/** Where a caller stands with one limit: what `consume` tells, in both outcomes. */
export interface RateLimiterResult {
  /** Milliseconds until points are available again. Below 0 where that has no known end. */
  readonly msBeforeNext: number
  readonly remainingPoints: number
}

/**
 * A limiter with the shape of the package `rate-limiter-flexible`: `RateLimiterMemory`, `RateLimiterPostgres` and every
 * other store of it, with and without an `insuranceLimiter`, `BurstyRateLimiter`, and `RateLimiterUnion`.
 *
 * It limits who is let in, by API key. Callers without a good key are answered 401 before it is asked: to limit them
 * too, by address, put a limiter of your server's in front.
 *
 * @example
 * import { RateLimiterMemory } from 'rate-limiter-flexible'
 * createHandler({ store, keys, rateLimiter: new RateLimiterMemory({ points: 60, duration: 60 }) })
 */
export interface RateLimiter {
  /**
   * Takes points from a key's allowance. Rejects with a {@link RateLimiterResult} when it is used up, and with an error
   * when it cannot tell. A limiter made of several gives a result for each by its name.
   *
   * @param key The SHA-256 of the API key in hex, never the key itself. Where the host authenticates,
   *   `organization:<id>` or `team:<id>`: all that an owner does counts together.
   */
  consume(key: string, points?: number): Promise<RateLimiterResult | Readonly<Record<string, RateLimiterResult>>>
  /** Points in a window; when given, told in `RateLimit-Policy`. */
  readonly points?: number | undefined
  /** Seconds in a window. */
  readonly duration?: number | undefined
}

/** What a limiter that fails does to a call: an error, an answer that is no result, or none within the time limit. */
export type RateLimiterFailure = 'refuse' | 'allow'
