import { describe } from '../options.ts'
import { hmac, importSecret } from '../runtime/sha256.ts'

/** The headers of Standard Webhooks 1.0, section "Webhook headers". */
export const ID = 'webhook-id'
export const TIMESTAMP = 'webhook-timestamp'
export const SIGNATURE = 'webhook-signature'

/** The prefix of an HMAC-SHA256 signature, and the prefix of a secret for such signatures. */
const VERSION = 'v1,'
const SECRET_PREFIX = 'whsec_'
/** Base64 contains no comma, so a comma ends a signature. */
const SIGNATURES = /(?<![^\s,])v1,[^\s,]+/g

type Bytes = Uint8Array<ArrayBuffer>

interface Message {
  readonly id: string
  /** Seconds since 1970, as digits. */
  readonly timestamp: string
  readonly body: string | Uint8Array
}

/**
 * Reads one secret or several.
 *
 * @throws {TypeError} if a secret is invalid. The message shows no secret.
 */
export function readSecrets(secret: string | readonly string[]): Promise<readonly CryptoKey[]> {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError(`The secret must be a string or a non-empty array of strings; it is ${describe(secret)}`)
  }
  return Promise.all(secrets.map(readSecret).map(importSecret))
}

/** Section "Signature scheme" requires 24 to 64 random bytes. */
function readSecret(secret: unknown): Bytes {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined
  if (bytes && bytes.length >= 24 && bytes.length <= 64) return bytes
  throw new TypeError(
    `A secret must be "${SECRET_PREFIX}" and 24 to 64 random bytes in base64, as printed by openssl rand -base64 32`,
  )
}

/** Returns one signature for each key, in the format of the header. */
export async function sign(message: Message, keys: readonly CryptoKey[]): Promise<string> {
  const content = toSignedContent(message)
  const signatures = await Promise.all(keys.map(key => hmac(key, content)))
  return signatures.map(signature => VERSION + toBase64(signature)).join(' ')
}

/**
 * Returns whether one of the signatures in a header matches one of the keys. Computes one HMAC for each key. Spaces
 * separate signatures. A comma separates two headers that were joined into one (RFC 9110, section 5.3).
 */
export async function hasValidSignature(field: string, message: Message, keys: readonly CryptoKey[]): Promise<boolean> {
  const expected = (await sign(message, keys)).split(' ')
  const signatures = field.match(SIGNATURES) ?? []
  return signatures.some(signature => expected.some(right => isSame(signature, right)))
}

/** Compares in constant time, so that nobody can guess a signature bit by bit. */
function isSame(text: string, other: string): boolean {
  let difference = text.length ^ other.length
  for (let index = 0; index < other.length; index += 1) difference |= text.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/** Joins the parts that are signed. The body is signed byte for byte, as it is sent. */
function toSignedContent({ id, timestamp, body }: Message): Bytes {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const content = new Uint8Array(head.length + bytes.length)
  content.set(head)
  content.set(bytes, head.length)
  return content
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
