import { findBuiltinModule } from './builtin-module.ts'

/**
 * Returns the SHA-256 of a string in UTF-8, in lower-case hex.
 *
 * Every runtime has WebCrypto. But on Node, WebCrypto computes each digest on another thread, which costs far more than
 * the digest itself. So `node:crypto` is used on every runtime that has this module. The module is looked up when the
 * first digest is computed.
 */
export async function sha256(text: string): Promise<string> {
  nodeCrypto ??= (findBuiltinModule('node:crypto') as typeof import('node:crypto') | undefined) ?? 'none'
  if (nodeCrypto !== 'none') return nodeCrypto.createHash('sha256').update(text).digest('hex')
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

let nodeCrypto: typeof import('node:crypto') | 'none' | undefined

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' }

/** @returns A key for {@link hmac}, which no program can read. */
export const importSecret = (secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])

/** @returns The HMAC-SHA256 of the content (RFC 2104): 32 bytes. */
export const hmac = async (key: CryptoKey, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign(algorithm, key, content))
