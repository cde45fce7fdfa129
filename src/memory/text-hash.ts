/**
 * FNV-1a over code units, with its upper half folded into the lower.
 *
 * @param seed Any 32 bits; other texts collide with another seed.
 * @param start Where to begin. Engines read the end of a text faster than a slice of it.
 * @returns 1 to 2^31 - 1, which engines keep unboxed.
 */
export function hashText(text: string, seed: number, start = 0): number {
  let hash = seed
  for (let index = start; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 16)) & 0x7fffffff || 1
}
