/** One hour. Whoever is told to wait longer asks again after that. */
const LONGEST_WAIT = 3_600_000

/**
 * Reads a `Retry-After` field: whole seconds, or a date (RFC 9110, section 10.2.3).
 *
 * @param now Milliseconds since 1970.
 * @returns Milliseconds to wait, 0 to one hour; `undefined` without the field, or with anything else in it.
 */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const wait = /^[0-9]+$/.test(value) ? Number(value) * 1000 : readDate(value) - now
  return Number.isNaN(wait) ? undefined : Math.min(LONGEST_WAIT, Math.max(0, wait))
}

/** Without `GMT`, `Date.parse` takes "1.5" and "-5" for dates. */
const readDate = (value: string): number => (value.endsWith(' GMT') ? Date.parse(value) : Number.NaN)
