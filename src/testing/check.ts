/** What a case found to be otherwise than it should be. */
export class UnmetExpectation extends Error {
  override readonly name = 'UnmetExpectation'
}

/**
 * Compares plain values: fields in any order, and what is `undefined` is not there.
 *
 * @throws {UnmetExpectation} that says what was expected and what came.
 */
export function checkEqual(what: string, actual: unknown, expected: unknown): void {
  if (show(actual) !== show(expected)) {
    throw new UnmetExpectation(`${what}: expected ${abridge(show(expected))}, got ${abridge(show(actual))}`)
  }
}

/** @throws {UnmetExpectation} that says what should have been. */
export function checkThat(claim: string, holds: boolean, actual: unknown): void {
  if (!holds) throw new UnmetExpectation(`expected that ${claim}, got ${abridge(show(actual))}`)
}

/**
 * Waits for something to fail.
 *
 * @returns What it was rejected with.
 */
export async function checkRejects(what: string, attempt: () => unknown): Promise<unknown> {
  let value: unknown
  try {
    value = await attempt()
  } catch (error) {
    return error
  }
  throw new UnmetExpectation(`${what}: expected a rejection, got ${abridge(show(value))}`)
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : sortFields(part))) ?? String(value)
}

function sortFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

const abridge = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text)
