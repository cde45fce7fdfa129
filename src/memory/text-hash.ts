/**
 * Hashes a text to {@link HASH_BITS} bits by multiply-shift (Dietzfelbinger, 1996): the upper bits of the sum of each
 * character times a random multiplier for its position. Texts come from strangers, who cannot choose colliding ones
 * without knowing the multipliers. Each process draws its own.
 */
export function hashText(text: string): number {
  // Workers refuse random numbers while a module is loaded.
  multipliers ??= crypto.getRandomValues(new Int32Array(MULTIPLIERS))
  const factors = multipliers
  const { length } = text
  let sum = 0
  for (let index = 0; index < length; index += 1) {
    sum = (sum + Math.imul(text.charCodeAt(index), factors[index & (MULTIPLIERS - 1)] as number)) | 0
  }
  return sum >>> (32 - HASH_BITS)
}

let multipliers: Int32Array | undefined

/** Engines store integers of up to 30 bits and a sign without an object on the heap. */
export const HASH_BITS = 30

/** A power of two, greater than the length of a hostname and a team ID together. */
const MULTIPLIERS = 512
