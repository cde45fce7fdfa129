/** A map from strings to anything but `undefined`. */
export interface LargeMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Makes a map without two limits of `Map`, which holds 2^24 entries at most and, once large, stops the process for
 * seconds whenever it grows. This is a `Map` as long as it is small; a full one is split into many, by a hash of the keys.
 */
export function createLargeMap<Value>(): LargeMap<Value> {
  let root: Node<Value> = new Map()
  return {
    get: key => findLeaf(root, key).get(key),
    set: (key, value) => {
      root = put(root, key, value)
    },
    delete: key => void findLeaf(root, key).delete(key),
  }
}

/** Entries, or a child for each value of the bits of the hash that tell the children apart. */
type Node<Value> = Map<string, Value> | Node<Value>[]

/** A Map of this size grows, or is split, within two milliseconds. */
const MAX_ENTRIES = 2 ** 14
const BITS = 5
const CHILDREN = 2 ** BITS
/** Where the bits are used up, a Map grows as it must. */
const MAX_DEPTH = Math.floor(32 / BITS)

function findLeaf<Value>(root: Node<Value>, key: string): Map<string, Value> {
  if (!Array.isArray(root)) return root
  const hash = hashOf(key)
  let node: Node<Value> = root
  for (let depth = 0; Array.isArray(node); depth += 1) node = childOf(node, hash, depth)
  return node
}

function put<Value>(root: Node<Value>, key: string, value: Value): Node<Value> {
  if (!Array.isArray(root)) return putIntoLeaf(root, key, value, 0)
  const hash = hashOf(key)
  let parent = root
  for (let depth = 1; ; depth += 1) {
    const node = childOf(parent, hash, depth - 1)
    if (!Array.isArray(node)) {
      parent[indexAt(hash, depth - 1)] = putIntoLeaf(node, key, value, depth)
      return root
    }
    parent = node
  }
}

function putIntoLeaf<Value>(leaf: Map<string, Value>, key: string, value: Value, depth: number): Node<Value> {
  leaf.set(key, value)
  return leaf.size > MAX_ENTRIES && depth < MAX_DEPTH ? split(leaf, depth) : leaf
}

function split<Value>(leaf: Map<string, Value>, depth: number): Node<Value> {
  const children = Array.from({ length: CHILDREN }, () => new Map<string, Value>())
  for (const [key, value] of leaf) childOf(children, hashOf(key), depth).set(key, value)
  return children
}

function childOf<Child>(children: readonly Child[], hash: number, depth: number): Child {
  return children[indexAt(hash, depth)] as Child
}

const indexAt = (hash: number, depth: number) => (hash >>> (depth * BITS)) & (CHILDREN - 1)

/** FNV-1a over code units, with its upper half folded into the lower. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return hash ^ (hash >>> 16)
}
