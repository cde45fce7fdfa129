import {
  capacityOf,
  createHashTable,
  distribute,
  emptySlot,
  fillSlot,
  findSlot,
  type HashTable,
  positionIn,
} from './hash-table.ts'
import { createLongList } from './long-list.ts'
import { hashText } from './text-hash.ts'

/** Values by a key that each of them knows. */
export interface KeyedSet<Value> {
  /**
   * What takes longest about a look-up, for a caller who looks a key up more than once.
   *
   * @param start Where the key begins in the text, at whose end it stands.
   */
  hashOf(text: string, start?: number): number
  get(key: string, hash?: number): Value | undefined
  /** Adds a value, in place of the one with the same key. */
  put(value: Value): void
  /** Puts what `change` makes of the value with this key; the new one has the same. */
  update(key: string, change: (value: Value | undefined) => Value, hash?: number): void
  delete(key: string): void
}

/**
 * Makes an empty set, for any number of values: a `Map` holds 2^24 at most and, once large, stops the process for
 * seconds whenever it grows. The values stand in a list, where what is new is next to what is new; where each stands is
 * in one hash table as long as they are few, and a full table is split in two.
 */
export function createKeyedSet<Value>(keyOf: (value: Value) => string): KeyedSet<Value> {
  const values = createLongList<Value>()
  const keyAt = (position: number) => keyOf(values.get(position))

  /**
   * By the last bits of the hash. A table that needs fewer of them to be told from the others stands here several
   * times.
   */
  let directory = [createHashTable()]
  const tableOf = (hash: number) => directory[hash & (directory.length - 1)] as HashTable

  /**
   * So that nobody can send names that all have the same hash. Drawn late: Workers have no random numbers at start-up.
   */
  let seed: number | undefined
  function hashOf(text: string, start?: number): number {
    seed ??= randomSeed()
    return hashText(text, seed, start)
  }

  function update(key: string, change: (value: Value | undefined) => Value, hash = hashOf(key)): void {
    const table = tableOf(hash)
    const slot = findSlot(table, hash, key, keyAt)
    const position = positionIn(table, slot)
    if (position !== undefined) {
      values.set(position, change(values.get(position)))
      return
    }
    fillSlot(table, slot, hash, values.push(change(undefined)))
    if (table.size >= MAX_TABLE_SIZE && directory.length < MAX_DIRECTORY_SIZE) split(table)
  }

  function split(table: HashTable): void {
    const standsOnce = directory.indexOf(table) === directory.lastIndexOf(table)
    if (standsOnce) directory = [...directory, ...directory]

    // Its places are the same distance apart; every other one goes to the one half.
    const halves = [createHashTable(capacityOf(table)), createHashTable(capacityOf(table))] as const
    let place = 0
    directory = directory.map(other => (other === table ? halves[place++ % 2 === 0 ? 0 : 1] : other))
    distribute(table, tableOf)
  }

  function move(value: Value, position: number): void {
    const key = keyOf(value)
    const hash = hashOf(key)
    const table = tableOf(hash)
    fillSlot(table, findSlot(table, hash, key, keyAt), hash, position)
    values.set(position, value)
  }

  return {
    hashOf,

    get(key, hash = hashOf(key)) {
      const table = tableOf(hash)
      const position = positionIn(table, findSlot(table, hash, key, keyAt))
      return position === undefined ? undefined : values.get(position)
    },

    put: value => update(keyOf(value), () => value),
    update,

    delete(key) {
      const hash = hashOf(key)
      const table = tableOf(hash)
      const slot = findSlot(table, hash, key, keyAt)
      const position = positionIn(table, slot)
      if (position === undefined) return
      emptySlot(table, slot)
      // The last value moves into the gap.
      const last = values.get(values.length - 1)
      if (position < values.length - 1) move(last, position)
      values.pop()
    },
  }
}

/** A table of this size is full to three quarters, about to grow, and split within a millisecond. */
const MAX_TABLE_SIZE = 24_576
/** For 400 million values; beyond, the tables grow as they must. */
const MAX_DIRECTORY_SIZE = 2 ** 14

const randomSeed = () => crypto.getRandomValues(new Int32Array(1))[0] as number
