import { isTimeLimit, TIME_LIMIT } from '../deadline.ts'
import { describe } from '../describe.ts'
import type { HandlerOptions } from './handler.ts'

interface Rule {
  /** `undefined` is asked too: an option that may be left out says so itself. */
  holds(value: unknown, options: Readonly<Record<string, unknown>>): boolean
  /** Completes "The option … must be". */
  expected: string
}

const isFunction = (value: unknown) => typeof value === 'function'
const hasMethods = (value: unknown, ...names: string[]) =>
  typeof value === 'object' &&
  value !== null &&
  names.every(name => isFunction((value as Record<string, unknown>)[name]))
const optional = (holds: (value: unknown) => boolean) => (value: unknown) => value === undefined || holds(value)

const rules: Readonly<Record<string, Rule>> = {
  store: {
    holds: store => hasMethods(store, 'findTeam', 'register'),
    expected: 'a DomainStore, such as createMemoryStore({ teams }) makes',
  },
  keys: {
    holds: (keys, { authenticate }) => (authenticate === undefined ? hasMethods(keys, 'findKey') : keys === undefined),
    expected: 'a KeyStore, such as createMemoryKeyStore() makes; or pass "authenticate" in its place, never both',
  },
  authenticate: {
    holds: optional(isFunction),
    expected: 'a function from a request to a KeyContext',
  },
  keyPrefix: {
    holds: optional(prefix => typeof prefix === 'string' && /^[A-Za-z0-9]+$/.test(prefix)),
    expected: 'one or more ASCII letters and digits, such as "svc"',
  },
  path: {
    holds: optional(path => typeof path === 'string' && path.startsWith('/')),
    expected: 'a path that begins with "/", such as "/v1/domains"',
  },
  rateLimiter: {
    holds: optional(limiter => hasMethods(limiter, 'consume')),
    expected: 'an object with a method "consume", such as a limiter of rate-limiter-flexible',
  },
  rateLimiterFailure: {
    holds: optional(failure => failure === 'refuse' || failure === 'allow'),
    expected: '"refuse" or "allow"',
  },
  bodyLimit: {
    holds: optional(limit => Number.isSafeInteger(limit) && Number(limit) > 0),
    expected: 'a whole number of bytes above 0, such as 262144',
  },
  bodyTimeLimit: {
    holds: optional(isTimeLimit),
    expected: TIME_LIMIT,
  },
  timeLimit: {
    holds: optional(isTimeLimit),
    expected: TIME_LIMIT,
  },
  onError: {
    holds: optional(isFunction),
    expected: 'a function that takes an error',
  },
}

/**
 * Checks what a host passes without types, or reads from its settings, when the server starts: a limit that is `NaN` would
 * limit nothing.
 *
 * @throws {TypeError} for the first option that is wrong; it says what to pass instead.
 */
export function requireOptions(options: HandlerOptions): void {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options must be an object')
  const values = options as unknown as Readonly<Record<string, unknown>>
  for (const [name, { holds, expected }] of Object.entries(rules)) {
    const value = values[name]
    if (!holds(value, values)) throw new TypeError(`The option "${name}" must be ${expected}; it is ${describe(value)}`)
  }
}
