import { payloadTooLarge } from '../errors/call-errors.ts'

/** The chunks of a body, collected while it is read. */
export interface Chunks {
  /** @throws {ApiError} 413 `payload_too_large` if the body exceeds the limit. */
  add(chunk: Uint8Array): void
  toBytes(): Uint8Array
}

export function createChunks(limit: number): Chunks {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    add(chunk) {
      length += chunk.byteLength
      if (length > limit) throw payloadTooLarge(limit)
      chunks.push(chunk)
    },
    toBytes() {
      const bytes = new Uint8Array(length)
      let offset = 0
      for (const chunk of chunks) {
        bytes.set(chunk, offset)
        offset += chunk.byteLength
      }
      return bytes
    },
  }
}
