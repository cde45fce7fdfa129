import type { RateLimiter, RateLimiterResult } from './rate-limiter.ts'

/**
 * The state of each limit of a caller, with the name of the limit. The name is `null` if the limiter has a single
 * limit.
 */
export type RateLimitState = readonly (readonly [policy: string | null, result: RateLimiterResult])[]

/** The name of the policy, as in the examples of the draft. */
const DEFAULT_POLICY = 'default'

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/**
 * Returns the headers RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11 of 2026-05-23, sections 3
 * and 4). The headers omit the partition key, because the caller already knows which API key it sent.
 */
export function toRateLimitFields(
  { points, duration }: RateLimiter,
  state: RateLimitState,
  name = DEFAULT_POLICY,
): Record<string, string> {
  const limits = state.map(([policy, { remainingPoints, msBeforeNext }]) => {
    const seconds = toSeconds(msBeforeNext)
    return `${quoted(policy || name)};r=${toInteger(remainingPoints)}${seconds === null ? '' : `;t=${seconds}`}`
  })
  const isSingle = state.every(([policy]) => policy === null)
  const quota = Number(points)
  return {
    ...(isSingle && quota >= 0 && { 'RateLimit-Policy': `${quoted(name)};q=${toInteger(quota)}${toWindow(duration)}` }),
    RateLimit: limits.join(', '),
  }
}

/** A window is an integer number of seconds, at least 1. A limiter that never restores points has no window. */
const toWindow = (duration: RateLimiter['duration']): string =>
  Number(duration) > 0 ? `;w=${toInteger(Math.ceil(Number(duration)))}` : ''

/**
 * Converts milliseconds to whole seconds, rounded up, so a caller does not retry too early. Returns `null` if no reset
 * time is known.
 */
export function toSeconds(milliseconds: number): number | null {
  if (milliseconds < 0 || milliseconds === Number.POSITIVE_INFINITY) return null
  return Math.min(MAX_INTEGER, Math.max(1, Math.ceil(milliseconds / 1000)))
}

const toInteger = (value: number) => String(Math.min(MAX_INTEGER, Math.max(0, Math.floor(value))))

/** A string of a structured field: printable ASCII in quotes (RFC 9651, section 3.3.3). */
const quoted = (text: string) => `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`
