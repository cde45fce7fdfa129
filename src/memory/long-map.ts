/** Values by key, any number of them. */
export interface LongMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  /** In any order. Nothing may be added or deleted meanwhile. */
  values(): Iterable<Value>
}

/**
 * Makes an empty map in shards. A `Map` holds 2^24 entries at most and stops the process for seconds when it grows with
 * millions in it; each of the shards stays small. Measured by `npm run bench -- memory`.
 *
 * Keys come from strangers. Within a shard the engine hashes them, with a seed of its own for each process; which shard
 * a key belongs to is told by a universal hash function, so that nobody who does not know its random multipliers can
 * choose keys that meet in one.
 */
export function createLongMap<Value>(): LongMap<Value> {
  let shards = [new Map<string, Value>()]
  let shardOf: (key: string) => number = () => 0
  const shardFor = (key: string) => shards[shardOf(key)] as Map<string, Value>

  function split(): void {
    const [whole = new Map<string, Value>()] = shards
    shards = Array.from({ length: SHARD_COUNT }, () => new Map())
    shardOf = createShardHash()
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

/** Most maps are small, and no more than one `Map`. */
const MAX_WHOLE = 2 ** 14
const SHARD_BITS = 10
const SHARD_COUNT = 2 ** SHARD_BITS
/** A power of two, and more than a hostname and a team ID have characters. */
const MULTIPLIERS = 512

/**
 * Multiply-shift over the characters of a key: the upper bits of the sum of each character times a random number for
 * its place (Dietzfelbinger, 1996). Two keys meet as rarely as chance has it, whichever they are.
 */
export function createShardHash(): (key: string) => number {
  const multipliers = crypto.getRandomValues(new Int32Array(MULTIPLIERS))
  return key => {
    let sum = 0
    for (let index = 0; index < key.length; index += 1) {
      sum = (sum + Math.imul(key.charCodeAt(index), multipliers[index & (MULTIPLIERS - 1)] as number)) | 0
    }
    return sum >>> (32 - SHARD_BITS)
  }
}
