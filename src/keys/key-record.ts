import { optional, type Rules, requireOptions } from '../options.ts'

/** What a {@link KeyStore} knows of an API key: its hash, and never the key itself. */
export interface KeyRecord {
  /** SHA-256 of the key in lower-case hex, as {@link hashApiKey} makes it. */
  readonly hash: string
  readonly type: 'organization' | 'team'
  /** The ID of the organization or team that the key belongs to, digits only. */
  readonly ownerId: string
  /** To register domains, a key needs `domains:create`. */
  readonly scopes: readonly string[]
  /** If this is set, to any date, the key is refused. */
  readonly revokedAt?: Date | null | undefined
  /** The key is refused from this moment on. Default: never. */
  readonly expiresAt?: Date | null | undefined
}

const isDate = (value: unknown): boolean => value === null || (value instanceof Date && !Number.isNaN(value.getTime()))

const rules: Rules = {
  hash: {
    holds: hash => typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash),
    expected: 'the SHA-256 of the key as hashApiKey makes it, 64 hex digits in lower case, never the key itself',
    isSecret: true,
  },
  type: { holds: type => type === 'organization' || type === 'team', expected: '"organization" or "team"' },
  ownerId: {
    holds: id => typeof id === 'string' && /^[0-9]+$/.test(id),
    expected: 'the ID of the owner, a string of digits',
  },
  scopes: {
    holds: scopes => Array.isArray(scopes) && scopes.every(scope => typeof scope === 'string'),
    expected: 'an array of scopes, such as ["domains:create"]',
  },
  revokedAt: { holds: optional(isDate), expected: 'a Date, or null' },
  expiresAt: { holds: optional(isDate), expected: 'a Date, or null' },
}

/**
 * Checks a key record before it is stored. A wrong one would answer 401 for ever, or let a caller in for too long.
 *
 * @throws {TypeError} that says what to pass instead.
 */
export function requireRecord(record: KeyRecord): void {
  requireOptions(record, rules, 'field', 'key record')
}
