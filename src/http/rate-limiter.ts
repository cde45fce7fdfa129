/** What remains of a limit. `consume` resolves to it, and rejects with it when the limit is used up. */
export interface RateLimiterResult {
  /** Milliseconds until points are available again. Below 0 if no end is known. */
  readonly msBeforeNext: number
  readonly remainingPoints: number
}

/**
 * A limiter with the shape of the package `rate-limiter-flexible`: `RateLimiterMemory`, `RateLimiterPostgres` and its
 * other stores, with and without an `insuranceLimiter`, `BurstyRateLimiter`, and `RateLimiterUnion`.
 *
 * It limits callers by API key. A caller without a valid key gets 401 before the limiter is called: to limit
 * those as well, add a limiter by IP address in front.
 *
 * @example
 * import { RateLimiterMemory } from 'rate-limiter-flexible'
 * createHandler({ store, keys, rateLimiter: new RateLimiterMemory({ points: 60, duration: 60 }) })
 */
export interface RateLimiter {
  /**
   * Consumes points of a key. Rejects with a {@link RateLimiterResult} if too few remain, with an error if it cannot
   * tell. A union of limiters gives one result for each, by its name.
   *
   * @param key The SHA-256 of the API key in hex, never the key itself. With your own `authenticate`,
   *   `organization:<id>` or `team:<id>`: all calls of an owner count together.
   */
  consume(key: string, points?: number): Promise<RateLimiterResult | Readonly<Record<string, RateLimiterResult>>>
  /** Points in a window. Sent in `RateLimit-Policy`. */
  readonly points?: number | undefined
  /** Seconds in a window. */
  readonly duration?: number | undefined
}

/**
 * What happens to a call if the limiter fails: it rejects with an error, resolves to something else, or does not
 * respond within the time limit.
 */
export type RateLimiterFailure = 'refuse' | 'allow'
