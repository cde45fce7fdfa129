/**
 * Values by the hash of their keys: open addressing with linear probing. Other than in a `Map` the hashes lie side by
 * side, so that a look-up among millions waits for memory once where a `Map` waits five times; and the keys, which the
 * values know, are not stored again.
 */
export interface HashTable<Value> {
  /** 0 where nothing is. The length is a power of two. */
  hashes: Int32Array
  values: (Value | undefined)[]
  size: number
}

const MIN_CAPACITY = 8

export function createHashTable<Value>(capacity = MIN_CAPACITY): HashTable<Value> {
  return { hashes: new Int32Array(capacity), values: new Array(capacity).fill(undefined), size: 0 }
}

/** @returns The slot of the value with this key, or the empty one where it would be. */
export function findSlot<Value>(
  { hashes, values }: HashTable<Value>,
  hash: number,
  key: string,
  keyOf: (value: Value) => string,
): number {
  let slot = homeOf(hash, hashes.length)
  for (; hashes[slot] !== 0; slot = next(slot, hashes.length)) {
    if (hashes[slot] === hash && keyOf(values[slot] as Value) === key) return slot
  }
  return slot
}

export function fillSlot<Value>(table: HashTable<Value>, slot: number, hash: number, value: Value): void {
  const isNew = table.hashes[slot] === 0
  table.hashes[slot] = hash
  table.values[slot] = value
  if (!isNew) return
  table.size += 1
  if (table.size > table.hashes.length * 0.75) resize(table, table.hashes.length * 2)
}

/** Empties a slot, and moves what was pushed past it nearer to its home, so that no search ends too early. */
export function emptySlot<Value>(table: HashTable<Value>, slot: number): void {
  const { hashes, values } = table
  const { length } = hashes
  let gap = slot
  for (let from = next(gap, length); hashes[from] !== 0; from = next(from, length)) {
    const hash = hashes[from] as number
    if (distance(homeOf(hash, length), from, length) < distance(gap, from, length)) continue
    hashes[gap] = hash
    values[gap] = values[from]
    gap = from
  }
  hashes[gap] = 0
  values[gap] = undefined
  table.size -= 1
  if (table.size < length / 8 && length > MIN_CAPACITY) resize(table, length / 2)
}

/** Puts what one table holds into others, of which there is none of it yet. */
export function distribute<Value>(table: HashTable<Value>, tableFor: (hash: number) => HashTable<Value>): void {
  const { hashes, values } = table
  for (let slot = 0; slot < hashes.length; slot += 1) {
    const hash = hashes[slot] as number
    if (hash === 0) continue
    const target = tableFor(hash)
    fillSlot(target, findEmptySlot(target.hashes, hash), hash, values[slot] as Value)
  }
}

function resize<Value>(table: HashTable<Value>, capacity: number): void {
  const resized = createHashTable<Value>(capacity)
  distribute(table, () => resized)
  Object.assign(table, resized)
}

function findEmptySlot(hashes: Int32Array, hash: number): number {
  let slot = homeOf(hash, hashes.length)
  while (hashes[slot] !== 0) slot = next(slot, hashes.length)
  return slot
}

/** Fibonacci hashing: the upper bits of the product depend on all bits of the hash. */
const homeOf = (hash: number, capacity: number) => Math.imul(hash, 0x9e3779b1) >>> (Math.clz32(capacity) + 1)

const next = (slot: number, capacity: number) => (slot + 1) & (capacity - 1)

const distance = (from: number, to: number, capacity: number) => (to - from) & (capacity - 1)
