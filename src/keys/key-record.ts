import { isText, matches, optional, type Rule, type Rules, requireFields, requireOptions } from '../options.ts'
import { looksLikeKey, ownerIdRule, ownerTypeRule } from './api-key.ts'
import { SCOPES } from './key-context.ts'

/** The data that a {@link KeyStore} has about an API key: its hash, but never the key itself. */
export interface KeyRecord {
  /** SHA-256 of the key in lower-case hex, as {@link hashApiKey} returns it. */
  readonly hash: string
  readonly type: 'organization' | 'team'
  /** The ID of the organization or team that the key belongs to, digits only. */
  readonly ownerId: string
  /** Any of `domains:create` (to register and preview), `domains:delete` and `domains:read` (to list and export). */
  readonly scopes: readonly string[]
  /** The name that the owner gave the key: at most 200 characters of valid Unicode, and never the key itself. */
  readonly label?: string | null | undefined
  /** The hint from {@link generateApiKey}, by which its owner recognizes the key. */
  readonly hint?: string | null | undefined
  /**
   * When the key was created. Like the other dates, this date must not be before the year 1. Default: the time at which
   * the key is added.
   */
  readonly createdAt?: Date | null | undefined
  /** If this is set, even to a future date, the key is rejected. */
  readonly revokedAt?: Date | null | undefined
  /** The key is rejected from this moment on. Default: never. */
  readonly expiresAt?: Date | null | undefined
}

/** A {@link KeyRecord} as a key store of this package returns it. */
export interface StoredKeyRecord extends KeyRecord {
  readonly label: string | null
  readonly hint: string | null
  readonly createdAt: Date
  readonly revokedAt: Date | null
  readonly expiresAt: Date | null
}

/**
 * The key of a call, for an audit log: enough to distinguish it from the owner's other keys, but never the key itself.
 */
export interface CallingKey extends Pick<StoredKeyRecord, 'hash' | 'label' | 'hint'> {}

/** The properties of a stored record that can be changed. A property that is missing or `undefined` keeps its value. */
export interface KeyChanges {
  /** Replaces the label; `null` removes it. */
  readonly label?: string | null | undefined
  /** Replaces all scopes. */
  readonly scopes?: readonly string[] | undefined
  /** The key is rejected from this moment on; `null` for a key that does not expire. */
  readonly expiresAt?: Date | null | undefined
}

/** An organization or a team that owns keys. */
export type KeyOwner = Pick<KeyRecord, 'type' | 'ownerId'>

const LONGEST_LABEL = 200

/** No date may be before this year, because PostgreSQL writes earlier years in another format. */
const YEAR_1 = Date.parse('0001-01-01')
const isDate = (value: unknown): boolean => value === null || (value instanceof Date && value.getTime() >= YEAR_1)
const dateRule = { holds: optional(isDate), expected: 'a Date in or after the year 1, or null' }

const isLabel = (text: unknown): boolean =>
  isText(text) && text.length <= LONGEST_LABEL && !/[\0\p{Cs}]/u.test(text) && !looksLikeKey(text)
const isHint = matches(/^[A-Za-z0-9]+_(?:org|team)_[0-9]+_…[\w\-.~+/=]{4}$/)

const knownScopes: readonly unknown[] = SCOPES

const recordRules = {
  hash: {
    holds: matches(/^[0-9a-f]{64}$/),
    expected: 'the SHA-256 of the key, 64 hex digits in lower case, and never the key itself',
    isSecret: true,
  },
  type: ownerTypeRule,
  ownerId: ownerIdRule,
  scopes: {
    holds: scopes => Array.isArray(scopes) && [...scopes].every(scope => knownScopes.includes(scope)),
    expected: `an array of scopes, each one of ${SCOPES.map(scope => `"${scope}"`).join(', ')}`,
  },
  label: {
    holds: optional(label => label === null || isLabel(label)),
    expected: `a string of at most ${LONGEST_LABEL} characters, in valid Unicode and without a key in it, or null`,
    isSecret: true,
  },
  hint: {
    holds: optional(hint => hint === null || isHint(hint)),
    expected: 'the hint that generateApiKey returns, or null',
    isSecret: true,
  },
  createdAt: dateRule,
  revokedAt: dateRule,
  expiresAt: dateRule,
} satisfies Rules

/**
 * Checks a key record before it is stored. With an invalid record, a key would always get 401, or would be accepted for
 * too long.
 *
 * @throws {TypeError} if a value is invalid; the message says what to pass instead.
 */
export function requireRecord(record: KeyRecord): void {
  requireOptions(record, recordRules, 'field', 'key record')
}

const { hash, type, ownerId, label, scopes, revokedAt, expiresAt } = recordRules
/** Accepts any string as a scope, because the application's key store may have its own scopes. */
const foundScopes: Rule = {
  holds: scopes => Array.isArray(scopes) && scopes.every(isText),
  expected: 'an array of scopes, such as ["domains:create"]',
}
const foundRecordRules: Rules = { hash, type, ownerId, scopes: foundScopes, revokedAt, expiresAt }
const changeRules: Rules = { label, scopes: { ...scopes, holds: optional(scopes.holds) }, expiresAt }

/**
 * Checks a record that the application's key store returned. Without this check, every key would be rejected if the
 * store returned its rows unconverted. Additional properties are ignored.
 *
 * @throws {TypeError} if the record is invalid; the message says what the record must have.
 */
export function requireFoundRecord(record: KeyRecord): void {
  requireFields(record, foundRecordRules, 'field', 'key record that the key store found')
}

/** @throws {TypeError} if the value is not an owner. */
export function requireOwner(owner: KeyOwner): void {
  requireFields(owner, { type, ownerId }, 'field', 'owner')
}

/**
 * @throws {TypeError} if the value is not a hash. Without this check, a call of `revokeKey` with the key instead of its
 *   hash would have no effect.
 */
export function requireHash(hash: string): void {
  requireOptions({ hash }, { hash: recordRules.hash }, 'field')
}

/** @throws {TypeError} if a property is invalid or cannot be changed. */
export function requireChanges(changes: KeyChanges): void {
  requireOptions(changes, changeRules, 'field', 'changes')
}
