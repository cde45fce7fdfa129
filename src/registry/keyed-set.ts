import { createHashTable, distribute, emptySlot, fillSlot, findSlot, type HashTable } from './hash-table.ts'

/** Values by a key that each of them knows. */
export interface KeyedSet<Value> {
  get(key: string): Value | undefined
  /** Adds a value, in place of the one with the same key. */
  put(value: Value): void
  /** Puts what `change` makes of the value with this key; the new one has the same. */
  update(key: string, change: (value: Value | undefined) => Value): void
  delete(key: string): void
}

/**
 * Makes an empty set, for any number of values: a `Map` holds 2^24 at most and, once large, stops the process for seconds
 * whenever it grows. This is one hash table as long as it is small; a full one is split into many.
 */
export function createKeyedSet<Value>(keyOf: (value: Value) => string): KeyedSet<Value> {
  /** By the last bits of the hash. A table that needs fewer of them to be told from the others stands here several times. */
  let directory = [createHashTable<Value>()]
  const tableOf = (hash: number) => directory[hash & (directory.length - 1)] as HashTable<Value>

  /** So that nobody can send names that all have the same hash. Drawn late: Workers have no random numbers at start-up. */
  let seed: number | undefined
  function hashOf(key: string): number {
    seed ??= randomSeed()
    return hashFrom(seed, key)
  }

  function update(key: string, change: (value: Value | undefined) => Value): void {
    const hash = hashOf(key)
    const table = tableOf(hash)
    const slot = findSlot(table, hash, key, keyOf)
    fillSlot(table, slot, hash, change(table.values[slot]))
    if (table.size > MAX_TABLE_SIZE && directory.length < MAX_DIRECTORY_SIZE) split(table)
  }

  function split(table: HashTable<Value>): void {
    const standsOnce = directory.indexOf(table) === directory.lastIndexOf(table)
    if (standsOnce) directory = [...directory, ...directory]

    // Its places are the same distance apart; every other one goes to the one half. Both have room for what they get: to let
    // them grow to that would be most of the cost of adding a value.
    const capacity = table.hashes.length / 2
    const halves = [createHashTable<Value>(capacity), createHashTable<Value>(capacity)] as const
    let place = 0
    directory = directory.map(other => (other === table ? halves[place++ % 2 === 0 ? 0 : 1] : other))
    distribute(table, tableOf)
  }

  return {
    get(key) {
      const hash = hashOf(key)
      const table = tableOf(hash)
      return table.values[findSlot(table, hash, key, keyOf)]
    },

    put: value => update(keyOf(value), () => value),
    update,

    delete(key) {
      const hash = hashOf(key)
      const table = tableOf(hash)
      const slot = findSlot(table, hash, key, keyOf)
      if (table.hashes[slot] !== 0) emptySlot(table, slot)
    },
  }
}

/** A table of this size is full to three quarters, and split within a millisecond. */
const MAX_TABLE_SIZE = 6144
/** For 400 million values; beyond, the tables grow as they must. */
const MAX_DIRECTORY_SIZE = 2 ** 16

/** FNV-1a over code units, with its upper half folded into the lower: 1 to 2^31 - 1, which engines keep unboxed. */
function hashFrom(seed: number, key: string): number {
  let hash = seed
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 16)) & 0x7fffffff || 1
}

const randomSeed = () => crypto.getRandomValues(new Int32Array(1))[0] as number
