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
  let root: Node<Value> = createHashTable()

  function update(key: string, change: (value: Value | undefined) => Value): void {
    const hash = hashOf(key)
    const table = findTable(root, hash)
    const slot = findSlot(table, hash, key, keyOf)
    fillSlot(table, slot, hash, change(table.values[slot]))
    if (table.size > MAX_SIZE) root = splitTable(root, hash, 0)
  }

  return {
    get(key) {
      const hash = hashOf(key)
      const table = findTable(root, hash)
      return table.values[findSlot(table, hash, key, keyOf)]
    },

    put: value => update(keyOf(value), () => value),
    update,

    delete(key) {
      const hash = hashOf(key)
      const table = findTable(root, hash)
      const slot = findSlot(table, hash, key, keyOf)
      if (table.hashes[slot] !== 0) emptySlot(table, slot)
    },
  }
}

/** A table, or a child for each value of the bits of the hash that tell the children apart. */
type Node<Value> = HashTable<Value> | Node<Value>[]

/** A table of this size is full to three quarters, and split within a millisecond. */
const MAX_SIZE = 6144
const BITS = 5
/** Where few bits are left to tell hashes apart, a table grows as it must. */
const MAX_DEPTH = 5

function findTable<Value>(root: Node<Value>, hash: number): HashTable<Value> {
  let node = root
  for (let depth = 0; Array.isArray(node); depth += 1) node = node[indexAt(hash, depth)] as Node<Value>
  return node
}

/** @returns The node with the table of this hash split. */
function splitTable<Value>(node: Node<Value>, hash: number, depth: number): Node<Value> {
  if (Array.isArray(node)) {
    const index = indexAt(hash, depth)
    node[index] = splitTable(node[index] as Node<Value>, hash, depth + 1)
    return node
  }
  if (depth === MAX_DEPTH) return node
  const tables = Array.from({ length: 2 ** BITS }, () => createHashTable<Value>())
  distribute(node, each => tables[indexAt(each, depth)] as HashTable<Value>)
  return tables
}

const indexAt = (hash: number, depth: number) => (hash >>> (depth * BITS)) & (2 ** BITS - 1)

/**
 * Another one in every process, so that nobody can send names that all have the same hash. Drawn when it is first needed:
 * Workers give no random numbers to a module that is being loaded.
 */
let seed: number | undefined
const drawSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0

/** FNV-1a over code units, with its upper half folded into the lower; never 0. */
function hashOf(key: string): number {
  seed ??= drawSeed()
  let hash = seed
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 16)) >>> 0 || 1
}
