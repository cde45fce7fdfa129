/**
 * SHA-256 of a text in UTF-8, in lower-case hex.
 *
 * WebCrypto is in every runtime, but sends each digest to another thread and waits for it, which on Node costs far more
 * than the digest (bench/key-lookup.ts). So Node's own is taken where there is one. It is asked for at the first digest
 * and not imported, so that one file serves all runtimes: bundlers for the edge refuse the import, and Next.js' edge
 * runtime throws at the question.
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
