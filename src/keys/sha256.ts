/**
 * Returns the SHA-256 of a text in UTF-8, in lower-case hex.
 *
 * Every runtime has WebCrypto, but it computes each digest on another thread, which on Node costs far more than the
 * digest itself. So Node's own module is used if there is one. It is looked up at the first
 * digest and not imported, because bundlers for the edge refuse the import. The look-up may throw: other runtimes have
 * no `process`, and that of Next.js at the edge refuses the call.
 */
export async function sha256(text: string): Promise<string> {
  nodeCrypto ??= findNodeCrypto()
  if (nodeCrypto !== 'none') return nodeCrypto.createHash('sha256').update(text).digest('hex')
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

let nodeCrypto: typeof import('node:crypto') | 'none' | undefined

function findNodeCrypto(): typeof import('node:crypto') | 'none' {
  try {
    return globalThis.process.getBuiltinModule('node:crypto') ?? 'none'
  } catch {
    return 'none'
  }
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
