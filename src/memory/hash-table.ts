/**
 * Where values stand in a list, by the hash of their keys: open addressing with linear probing. A slot is two numbers
 * side by side, so that a look-up among millions waits for memory once where a `Map` waits five times; and the keys,
 * which the values know, are not stored again.
 */
export interface HashTable {
  /** For each slot the hash, 0 where nothing is, and the position in the list. As many slots as a power of two. */
  slots: Int32Array
  size: number
}

const NUMBERS_PER_SLOT = 2
const MIN_CAPACITY = 8

export function createHashTable(capacity = MIN_CAPACITY): HashTable {
  return { slots: new Int32Array(capacity * NUMBERS_PER_SLOT), size: 0 }
}

/** @returns The slot for the value with this key, or the empty one where it would be. */
export function findSlot({ slots }: HashTable, hash: number, key: string, keyAt: (position: number) => string): number {
  let slot = homeOf(hash, slots.length)
  for (; slots[slot] !== 0; slot = next(slot, slots.length)) {
    if (slots[slot] === hash && keyAt(slots[slot + 1] as number) === key) return slot
  }
  return slot
}

/** @returns Where the value stands; `undefined` of an empty slot. */
export function positionIn({ slots }: HashTable, slot: number): number | undefined {
  return slots[slot] === 0 ? undefined : slots[slot + 1]
}

export function fillSlot(table: HashTable, slot: number, hash: number, position: number): void {
  const { slots } = table
  const isNew = slots[slot] === 0
  slots[slot] = hash
  slots[slot + 1] = position
  if (!isNew) return
  table.size += 1
  if (table.size > capacityOf(table) * MAX_LOAD) resize(table, capacityOf(table) * 2)
}

/** Empties a slot, and moves what was pushed past it nearer to its home, so that no search ends too early. */
export function emptySlot(table: HashTable, slot: number): void {
  const { slots } = table
  const { length } = slots
  let gap = slot
  for (let from = next(gap, length); slots[from] !== 0; from = next(from, length)) {
    const hash = slots[from] as number
    if (distance(homeOf(hash, length), from, length) < distance(gap, from, length)) continue
    slots[gap] = hash
    slots[gap + 1] = slots[from + 1] as number
    gap = from
  }
  slots[gap] = 0
  table.size -= 1
  const capacity = capacityOf(table)
  if (table.size < capacity / 8 && capacity > MIN_CAPACITY) resize(table, capacity / 2)
}

/** Puts what one table holds into others, of which there is none of it yet. */
export function distribute({ slots }: HashTable, tableFor: (hash: number) => HashTable): void {
  for (let slot = 0; slot < slots.length; slot += NUMBERS_PER_SLOT) {
    const hash = slots[slot] as number
    if (hash === 0) continue
    const target = tableFor(hash)
    fillSlot(target, findEmptySlot(target, hash), hash, slots[slot + 1] as number)
  }
}

export const capacityOf = ({ slots }: HashTable) => slots.length / NUMBERS_PER_SLOT

/** Searches are short as long as no table is fuller. */
const MAX_LOAD = 0.75

function resize(table: HashTable, capacity: number): void {
  const resized = createHashTable(capacity)
  distribute(table, () => resized)
  table.slots = resized.slots
}

function findEmptySlot({ slots }: HashTable, hash: number): number {
  let slot = homeOf(hash, slots.length)
  while (slots[slot] !== 0) slot = next(slot, slots.length)
  return slot
}

/** Fibonacci hashing: the upper bits of the product depend on all bits of the hash. */
const homeOf = (hash: number, length: number) =>
  (Math.imul(hash, 0x9e3779b1) >>> (Math.clz32(length) + 1)) & -NUMBERS_PER_SLOT

const next = (slot: number, length: number) => (slot + NUMBERS_PER_SLOT) & (length - 1)

const distance = (from: number, to: number, length: number) => (to - from) & (length - 1)
