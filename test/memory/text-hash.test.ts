import { expect, test } from 'vitest'
import { HASH_BITS, hashText } from '../../src/memory/text-hash.ts'

const SLOTS = 1024
const slotOf = (name: string) => Math.floor(hashText(name) / (2 ** HASH_BITS / SLOTS))

/**
 * FNV-1a, whose low bits depend on the low bits of its seed and of the text alone: who guesses those can make all texts
 * collide.
 */
function fnv1a(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** Names that meet in one slot of a table by FNV-1a, for every seed that ends in these bits. */
function collideInFnv1a(count: number, seedBits: number): string[] {
  const names: string[] = []
  for (let number = 0; names.length < count; number += 1) {
    const name = `${number.toString(36)}.com`
    if (fnv1a(name, seedBits) % SLOTS === 0) names.push(name)
  }
  return names
}

const fullest = (slots: readonly number[]) => {
  const counts = new Map<number, number>()
  for (const slot of slots) counts.set(slot, (counts.get(slot) ?? 0) + 1)
  return Math.max(...counts.values())
}

test.each([0, 77, 1023])('names chosen to collide by FNV-1a with seed bits %i spread over the shards', seedBits => {
  const names = collideInFnv1a(300, seedBits)
  expect(fullest(names.map(name => fnv1a(name, 0x5eed0000 | seedBits) % SLOTS))).toBe(300)
  expect(fullest(names.map(slotOf))).toBeLessThan(20)
})
