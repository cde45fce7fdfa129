/** A seeded random source: the same seed gives the same choices. */
export type Random = ReturnType<typeof createRandom>

/** Mulberry32, a random generator with only 32 bits of state: enough to vary schedules, but not for other purposes. */
export function createRandom(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  /** A number from 0 to just under 1. */
  function fraction(): number {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  /** An integer from `low` to `high`, both included. */
  const integer = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1))
  const chance = (probability: number) => fraction() < probability
  function pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('There is nothing to pick from')
    return items[integer(0, items.length - 1)] as T
  }
  function shuffle<T>(items: readonly T[]): T[] {
    const ranked = items.map(item => ({ item, rank: fraction() }))
    return ranked.sort((one, other) => one.rank - other.rank).map(({ item }) => item)
  }
  return { fraction, integer, chance, pick, shuffle }
}
