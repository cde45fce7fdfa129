/** The state of a limit. `consume` resolves to this object, or rejects with it if too few points remain. */
export interface RateLimiterResult {
  /** Milliseconds until points are available again. Negative if that time is unknown. */
  readonly msBeforeNext: number
  readonly remainingPoints: number
}

/**
 * A limiter with the interface of the package `rate-limiter-flexible`: `RateLimiterMemory`, `RateLimiterPostgres` and
 * the other stores, `BurstyRateLimiter` and `RateLimiterUnion`. These limiters may have an `insuranceLimiter`.
 *
 * The limiter limits callers by API key. A caller without a valid key gets 401 before the limiter is called. To limit
 * callers without a valid key as well, add a limiter by IP address in front of the API.
 *
 * @example
 * import { RateLimiterMemory } from 'rate-limiter-flexible'
 * createHandler({ store, keys, rateLimiter: new RateLimiterMemory({ points: 60, duration: 60 }) })
 */
export interface RateLimiter {
  /**
   * Consumes points for a key. Rejects with a {@link RateLimiterResult} if too few points remain, and with an error if
   * the limit cannot be checked. A union of limiters returns one result for each limiter, keyed by its name.
   *
   * @param key The SHA-256 of the API key in hex, never the key itself. If you pass your own `authenticate`, the
   *   limiter gets `organization:<id>` or `team:<id>` instead, so all calls of the same owner count together.
   */
  consume(key: string, points?: number): Promise<RateLimiterResult | Readonly<Record<string, RateLimiterResult>>>
  /** Points in a window. Sent in `RateLimit-Policy`. */
  readonly points?: number | undefined
  /** Seconds in a window. */
  readonly duration?: number | undefined
}

/**
 * What happens to a call if the limiter fails. A limiter fails if it rejects with an error, resolves to an unexpected
 * value, or does not respond within the time limit.
 */
export type RateLimiterFailure = 'refuse' | 'allow'
