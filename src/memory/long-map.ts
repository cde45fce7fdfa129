import { HASH_BITS } from './text-hash.ts'

/** A map without the limits of `Map` on its size. */
export interface LongMap<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** In any order. Nothing may be added or deleted meanwhile. */
  values(): Iterable<Value>
}

/**
 * Makes an empty map of shards, each a small `Map`. One `Map` holds 2^24 entries at most, and with millions in it stops
 * the process for seconds when it grows. Measured by `npm run bench -- memory`.
 *
 * @param hash Of a key, {@link HASH_BITS} long; see {@link hashText}. It chooses the shard.
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

/** A map is split into shards when it has this many entries; most never have. */
const MAX_WHOLE = 2 ** 14
/** Few, so that what all calls touch of each shard stays in the processor's cache. */
const SHARD_BITS = 6
const SHARD_COUNT = 2 ** SHARD_BITS
const SHARD_SHIFT = HASH_BITS - SHARD_BITS
