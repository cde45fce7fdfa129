/** The rule for one option. */
export interface Rule {
  /**
   * Returns whether the value is valid. The value is `undefined` if the option was not passed; rules made with {@link
   * optional} allow that.
   */
  readonly holds: (value: unknown, options: Readonly<Record<string, unknown>>) => boolean
  /** Completes the sentence "The option … must be". */
  readonly expected: string
  /** Whether an invalid string may be a secret, which no message may show. */
  readonly isSecret?: boolean
}

/** The rule of each option, by its name. */
export type Rules = Readonly<Record<string, Rule>>

/**
 * Checks options before they are used. An application without types may pass anything, for instance values from its
 * settings. Without this check, a limit would have no effect if its name were misspelled or its value were `NaN`.
 *
 * @param part The name of a property in messages.
 * @param whole The name of the whole object in messages.
 * @throws {TypeError} if a property is unknown or invalid. The message names the first unknown or invalid property, and
 *   says what to pass instead.
 */
export function requireOptions(options: unknown, rules: Rules, part = 'option', whole = 'options'): void {
  const names = isObject(options) ? Object.keys(options) : []
  for (const name of names) {
    if (Object.hasOwn(rules, name)) continue
    const existing = Object.keys(rules).map(other => `"${other}"`)
    throw new TypeError(`The ${part} "${name}" does not exist; there are ${existing.join(', ')}`)
  }
  requireFields(options, rules, part, whole)
}

/**
 * Like {@link requireOptions}, but allows properties without a rule.
 *
 * @param where Ends each message.
 */
export function requireFields(value: unknown, rules: Rules, part: string, whole: string, where = ''): void {
  if (!isObject(value)) throw new TypeError(`The ${whole} must be an object${where}`)
  for (const [name, { holds, expected, isSecret }] of Object.entries(rules)) {
    const field = value[name]
    if (holds(field, value)) continue
    const found = isSecret && typeof field === 'string' ? 'a string, not shown here' : describe(field)
    throw new TypeError(`The ${part} "${name}" must be ${expected}; it is ${found}${where}`)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/* @__NO_SIDE_EFFECTS__ */
export function optional(holds: (value: unknown) => boolean): (value: unknown) => boolean {
  return value => value === undefined || holds(value)
}

export const isText = (value: unknown): value is string => typeof value === 'string'

/* @__NO_SIDE_EFFECTS__ */
export function matches(pattern: RegExp): (value: unknown) => boolean {
  return value => isText(value) && pattern.test(value)
}

export const isFunction = (value: unknown): boolean => typeof value === 'function'

export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every(name => isFunction(value[name]))

export const booleanRule: Rule = { holds: optional(value => typeof value === 'boolean'), expected: 'true or false' }

export const countRule: Rule = {
  holds: optional(count => Number.isInteger(count) && Number(count) > 0),
  expected: 'an integer above 0',
}

/** How much of a string a message shows, in UTF-16 code units. */
const LONGEST_SHOWN = 200

/**
 * Describes a value for a message. Shows a number or the start of a string, but only the type of any other value,
 * because converting other values could run their own code.
 */
export function describe(value: unknown): string {
  if (typeof value === 'string') {
    const start = JSON.stringify(value.slice(0, LONGEST_SHOWN))
    return value.length > LONGEST_SHOWN ? `${start} and ${value.length - LONGEST_SHOWN} more characters` : start
  }
  if (typeof value === 'number') return String(value)
  if (value === null) return 'null'
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'an invalid Date'
  return typeof value
}
