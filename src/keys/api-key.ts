import { sha256, toHex } from './sha256.ts'

/** What an API key says of itself. It proves nothing until a {@link KeyStore} knows its hash. */
export interface ParsedApiKey {
  type: 'organization' | 'team'
  /** The owner's ID, digits only: of an organization or of a team, as `type` says. */
  id: string
  /** The rest of the key. Never log it. */
  secret: string
}

export interface ApiKeyOptions {
  /** The word that every key of the product begins with. ASCII letters and digits; default `svc`. */
  prefix?: string | undefined
}

export interface GenerateApiKeyOptions extends ApiKeyOptions {
  type: 'organization' | 'team'
  /** The owner's ID, digits only. */
  id: string
}

export interface GeneratedApiKey {
  /** The key. Show it to its owner once and forget it. */
  key: string
  /** Its SHA-256 in hex. Store this. */
  hash: string
}

/** Longer texts are no keys; nothing that a caller sends makes the server hash or search more than this. */
const MAX_KEY_LENGTH = 512

/** The word that API keys begin with where the host sets none. */
export const DEFAULT_PREFIX = 'svc'
const SECRET_BYTES = 32

const typeByWord = { org: 'organization', team: 'team' } as const
const wordByType = { organization: 'org', team: 'team' } as const

export const isKeyPrefix = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9]+$/.test(value)

/** Completes "The option … must be". */
export const KEY_PREFIX = 'one or more ASCII letters and digits, such as "svc"'

/** `org` or `team`, the owner's digits, and a secret in the alphabet of a bearer token (RFC 6750, section 2.1). */
const keyAfterPrefix = /^_(org|team)_([0-9]+)_([A-Za-z0-9\-._~+/]+=*)$/

/**
 * Reads an API key: `svc_org_<digits>_<secret>` or `svc_team_<digits>_<secret>`.
 *
 * @param text At most 512 characters.
 * @returns `null` for anything else, keys of the old form without a type among them.
 *
 * @example
 * parseApiKey('svc_team_42_Zm9v') // { type: 'team', id: '42', secret: 'Zm9v' }
 */
export function parseApiKey(text: string, { prefix = DEFAULT_PREFIX }: ApiKeyOptions = {}): ParsedApiKey | null {
  if (typeof text !== 'string' || text.length > MAX_KEY_LENGTH || !text.startsWith(prefix)) return null
  const match = keyAfterPrefix.exec(text.slice(prefix.length))
  if (!match) return null
  const [, word, id, secret] = match as unknown as [string, keyof typeof typeByWord, string, string]
  return { type: typeByWord[word], id, secret }
}

/**
 * Makes a new API key with 256 random bits.
 *
 * @throws {TypeError} when the options would make a key that {@link parseApiKey} does not read.
 *
 * @example
 * const { key, hash } = await generateApiKey({ type: 'team', id: '42' })
 * keys.addKey({ hash, type: 'team', ownerId: '42', scopes: ['domains:create'] })
 * console.log(key) // svc_team_42_… : the only time that it is seen
 */
export async function generateApiKey(options: GenerateApiKeyOptions): Promise<GeneratedApiKey> {
  const { type, id, prefix = DEFAULT_PREFIX } = options
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  const key = `${prefix}_${wordByType[type]}_${id}_${toHex(bytes)}`
  if (!isKeyPrefix(prefix) || parseApiKey(key, { prefix })?.id !== id) {
    throw new TypeError(
      'generateApiKey needs a type (organization or team), an id of digits, and a prefix of letters and digits',
    )
  }
  return { key, hash: await hashApiKey(key) }
}

/**
 * The SHA-256 of a key (UTF-8), in lower-case hex: what is stored and looked up in the key's place. A fast hash is
 * enough, since a key holds far more random bits than can be searched; it is no hash for passwords.
 *
 * @example
 * await hashApiKey('svc_team_42_Zm9v') // the `hash` of a KeyRecord: 64 hex digits
 */
export async function hashApiKey(key: string): Promise<string> {
  return sha256(key)
}
