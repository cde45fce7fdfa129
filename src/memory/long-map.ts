import { HASH_BITS } from './text-hash.ts'

/** A map without the size limit of `Map`. */
export interface LongMap<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** In any order. The map must not change meanwhile. */
  values(): Iterable<Value>
}

/**
 * Makes an empty map of shards, each a small `Map`. A single `Map` holds at most 2^24 entries, and blocks the process
 * for seconds when it grows with millions in it. Measured by `npm run bench -- memory`.
 *
 * @param hash Hashes a key to {@link HASH_BITS} bits, which choose the shard; see {@link hashText}.
 */
export function createLongMap<Key, Value>(hash: (key: Key) => number): LongMap<Key, Value> {
  let shards = [new Map<Key, Value>()]
  const shardFor = (key: Key) => shards[shards.length === 1 ? 0 : hash(key) >>> SHARD_SHIFT] as Map<Key, Value>

  function split(): void {
    const [whole = new Map<Key, Value>()] = shards
    shards = Array.from({ length: SHARD_COUNT }, () => new Map())
    for (const [key, value] of whole) shardFor(key).set(key, value)
  }

  return {
    get: key => shardFor(key).get(key),
    set(key, value) {
      const shard = shardFor(key)
      shard.set(key, value)
      if (shards.length === 1 && shard.size === MAX_WHOLE) split()
    },
    delete: key => void shardFor(key).delete(key),
    *values() {
      for (const shard of shards) yield* shard.values()
    },
  }
}

/** A map is split into shards when it has this many entries. Most maps never have. */
const MAX_WHOLE = 2 ** 14
/** Few, so that the parts of each shard that every call touches stay in the processor's cache. */
const SHARD_BITS = 6
const SHARD_COUNT = 2 ** SHARD_BITS
const SHARD_SHIFT = HASH_BITS - SHARD_BITS
