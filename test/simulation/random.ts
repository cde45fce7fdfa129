/** A source of choices that a seed decides: the same seed, the same choices. */
export interface Random {
  /** From 0 to just under 1. */
  fraction(): number
  /** From `low` to `high`, both included. */
  integer(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** Mulberry32: 32 bits of state, enough to tell schedules apart and nothing else. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  function fraction(): number {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1))
  return {
    fraction,
    integer,
    chance: probability => fraction() < probability,
    shuffle: items =>
      items
        .map(item => ({ item, rank: fraction() }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ item }) => item),
    pick: items => {
      if (items.length === 0) throw new Error('There is nothing to pick from')
      return items[integer(0, items.length - 1)] as never
    },
  }
}
