/*
 * Reads values of a database. The settings of a driver decide in which form a value arrives: numbers may be strings or
 * BigInts, and truth values may be numbers or strings. A value in any other form is rejected, never interpreted.
 */

/** Reads an integer. */
export function readInteger(value: unknown): number {
  const isText = typeof value === 'string' && /^-?\d+$/.test(value)
  const number = isText || typeof value === 'bigint' ? Number(value) : value
  if (Number.isSafeInteger(number)) return number as number
  throw new TypeError(`The database driver returned ${describe(value)} for an integer`)
}

/** Reads a truth value, for which SQL returns `true` or `false` as a string, or 1 or 0. */
export function readBoolean(value: unknown): boolean {
  if (value === 'true' || value === 1 || value === 1n) return true
  if (value === 'false' || value === 0 || value === 0n) return false
  throw new TypeError(`The database driver returned ${describe(value)} for a truth value`)
}

/** Reads a time in milliseconds since 1970. */
export const readTime = (value: unknown): Date => new Date(readInteger(value))

/** Reads a time that may be absent. */
export const readOptionalTime = (value: unknown): Date | null => (value === null ? null : readTime(value))

const describe = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : `the ${typeof value} ${value}`
