import { TimeLimitError } from '../time/deadline.ts'

/** Thrown by a case if the store does not behave as expected. */
export class UnmetExpectation extends Error {
  override readonly name = 'UnmetExpectation'
}

/**
 * Compares plain values. Ignores the order of fields, and fields that are `undefined`. In an array, `undefined` differs
 * from `null`.
 *
 * @throws {UnmetExpectation} with the expected and the actual value.
 */
export function checkEqual(what: string, actual: unknown, expected: unknown): void {
  if (toText(actual) !== toText(expected)) {
    throw new UnmetExpectation(`${what}: expected ${abridge(toText(expected))}, got ${abridge(toText(actual))}`)
  }
}

/** @throws {UnmetExpectation} with the claim, if the claim does not hold. */
export function checkThat(claim: string, holds: boolean, actual: unknown): void {
  if (!holds) throw new UnmetExpectation(`expected that ${claim}, got ${abridge(toText(actual))}`)
}

/**
 * Checks that an attempt throws or rejects.
 *
 * @returns Its error.
 */
export async function checkRejects(what: string, attempt: () => unknown): Promise<unknown> {
  let value: unknown
  try {
    value = await attempt()
  } catch (error) {
    return error
  }
  throw new UnmetExpectation(`${what}: expected a rejection, got ${abridge(toText(value))}`)
}

/** Checks that an attempt rejects with a `TypeError`, as it must for an invalid argument. */
export async function checkRejectsArgument(what: string, attempt: () => unknown): Promise<void> {
  const error = await checkRejects(what, attempt)
  checkThat(`${what}: the rejection is a TypeError`, error instanceof TypeError, String(error))
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : sortFields(part))) ?? String(value)
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => (item === undefined ? 'undefined' : item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

const abridge = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text)

/** Returns the message of a case that failed: what was expected, and what happened instead. */
export function describeFailedCase(cause: unknown): string {
  if (cause instanceof UnmetExpectation) return cause.message
  if (cause instanceof TimeLimitError) return `expected a response, got none: ${cause.message}`
  return `expected no failure, got ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`
}
