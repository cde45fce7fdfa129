import { matches, optional, type Rule, type Rules, requireOptions } from '../options.ts'
import { sha256, toHex } from '../runtime/sha256.ts'

/**
 * The parts of an API key. These parts prove nothing about the caller until a {@link KeyStore} finds the hash of the
 * key.
 */
export interface ParsedApiKey {
  type: 'organization' | 'team'
  /** The ID of the organization or team, digits only. */
  id: string
  /** The part after the ID. Never log this secret. */
  secret: string
}

/** The format of an application's API keys. */
export interface ApiKeyOptions {
  /** The prefix of all keys of the product: ASCII letters and digits. Default `svc`. */
  prefix?: string | undefined
}

/** The owner for whom {@link generateApiKey} creates a key. */
export interface GenerateApiKeyOptions extends ApiKeyOptions {
  type: 'organization' | 'team'
  /** The owner's ID, digits only. */
  id: string
}

/** A new key, and the values to store in its place. */
export interface GeneratedApiKey {
  /** The key. Show the key to its owner once, and never store it. */
  key: string
  /** The SHA-256 of the key in hex. Store this. */
  hash: string
  /**
   * Lets the owner recognize the key: `svc_team_42_…9f3a` is the part before the secret, an ellipsis, and the last four
   * characters of the secret. These four characters reveal 16 of the 256 random bits; the other 240 cannot be guessed.
   */
  hint: string
}

/** The maximum length of a key, which bounds the work that a caller can cause by sending a long string. */
const MAX_KEY_LENGTH = 512

/** The prefix of API keys if none is set. */
export const DEFAULT_PREFIX = 'svc'
const SECRET_BYTES = 32
/** How many characters of the secret a hint shows. */
const SHOWN_CHARACTERS = 4

export const keyPrefixRule: Rule = {
  holds: optional(matches(/^[A-Za-z0-9]+$/)),
  expected: 'one or more ASCII letters and digits, such as "svc"',
}

export const ownerTypeRule: Rule = { holds: matches(/^(?:organization|team)$/), expected: '"organization" or "team"' }
export const ownerIdRule: Rule = { holds: matches(/^[0-9]+$/), expected: "the owner's ID, a string of digits" }
export const apiKeyRules: Rules = { prefix: keyPrefixRule }
const newKeyRules: Rules = { type: ownerTypeRule, id: ownerIdRule, ...apiKeyRules }

/**
 * `org` or `team`, the digits of the owner's ID, and a secret in the alphabet of a bearer token (RFC 6750, section
 * 2.1).
 */
const keyAfterPrefix = /^_(org|team)_([0-9]+)_([A-Za-z0-9\-._~+/]+=*)$/

/**
 * Reads an API key: `svc_org_<digits>_<secret>` or `svc_team_<digits>_<secret>`.
 *
 * @param text At most 512 characters.
 * @returns The parts of the key; `null` for any other string, including keys in the old format without a type.
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * parseApiKey('svc_team_42_Zm9v') // { type: 'team', id: '42', secret: 'Zm9v' }
 */
export function parseApiKey(text: string, options: ApiKeyOptions = {}): ParsedApiKey | null {
  requireOptions(options, apiKeyRules)
  const { prefix = DEFAULT_PREFIX } = options
  if (typeof text !== 'string' || text.length > MAX_KEY_LENGTH || !text.startsWith(prefix)) return null
  const [, word, id, secret] = keyAfterPrefix.exec(text.slice(prefix.length)) ?? []
  if (id === undefined || secret === undefined) return null
  return { type: word === 'org' ? 'organization' : 'team', id, secret }
}

/** Returns whether a string seems to contain an API key, with any prefix. Hashes and hints do not count as keys. */
export const looksLikeKey = (text: string): boolean => /_(?:org|team)_[0-9]+_[^…]/.test(text)

/**
 * Generates a new API key with 256 random bits.
 *
 * @throws {TypeError} if an option is missing or invalid, or if the key would be longer than 512 characters.
 *
 * @example
 * const { key, hash, hint } = await generateApiKey({ type: 'team', id: '42' })
 * await keys.addKey({ hash, hint, type: 'team', ownerId: '42', scopes: ['domains:create'] })
 * console.log(key) // svc_team_42_…; shown once and stored nowhere
 */
export async function generateApiKey(options: GenerateApiKeyOptions): Promise<GeneratedApiKey> {
  requireOptions(options, newKeyRules)
  const { type, id, prefix = DEFAULT_PREFIX } = options
  const start = `${prefix}_${type === 'organization' ? 'org' : 'team'}_${id}_`
  const key = start + toHex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  if (key.length > MAX_KEY_LENGTH) throw new TypeError(`The key would be longer than ${MAX_KEY_LENGTH} characters`)
  return { key, hash: await hashApiKey(key), hint: `${start}…${key.slice(-SHOWN_CHARACTERS)}` }
}

/**
 * Hashes a key with SHA-256. Store and look up the hash instead of the key. A fast hash suffices, because a generated
 * key has too many random bits to be guessed. Do not use this hash for passwords.
 *
 * @example
 * await hashApiKey('svc_team_42_Zm9v') // the `hash` of a KeyRecord: 64 hex digits
 */
export async function hashApiKey(key: string): Promise<string> {
  return sha256(key)
}
