import type { RateLimiter, RateLimiterResult } from './rate-limiter.ts'

/** What remains of each limit of a caller, by the name of the limit. */
export type RateLimitState = readonly (readonly [policy: string, result: RateLimiterResult])[]

/** The name of the policy of a single limiter, as in the examples of the draft. */
export const DEFAULT_POLICY = 'default'

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/**
 * RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11 of 2026-05-23, sections 3 and 4), without a
 * partition key: the caller knows which key it sent.
 */
export function toRateLimitFields({ points, duration }: RateLimiter, state: RateLimitState): Record<string, string> {
  const limits = state.map(([policy, { remainingPoints, msBeforeNext }]) => {
    const seconds = toSeconds(msBeforeNext)
    return `${quoted(policy)};r=${toInteger(remainingPoints)}${seconds === null ? '' : `;t=${toInteger(seconds)}`}`
  })
  const isDefault = state.every(([policy]) => policy === DEFAULT_POLICY)
  return {
    ...(isDefault && points !== undefined && { 'RateLimit-Policy': toPolicy(points, duration) }),
    RateLimit: limits.join(', '),
  }
}

/** A window is a whole number of seconds above 0. Points that never come back have no window. */
function toPolicy(points: number, duration = 0): string {
  const window = duration > 0 ? `;w=${toInteger(Math.ceil(duration))}` : ''
  return `${quoted(DEFAULT_POLICY)};q=${toInteger(points)}${window}`
}

/** Whole seconds, rounded up, so that a caller does not come back too early. `null` if no end is known. */
export function toSeconds(milliseconds: number): number | null {
  if (milliseconds < 0 || milliseconds === Number.POSITIVE_INFINITY) return null
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

const toInteger = (value: number) => String(Math.min(MAX_INTEGER, Math.max(0, Math.floor(value))))

/** A string of a structured field: printable ASCII in quotes (RFC 9651, section 3.3.3). */
const quoted = (text: string) => `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`
