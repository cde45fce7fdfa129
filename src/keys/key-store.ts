import type { Awaitable } from '../awaitable.ts'

/** What is known of an API key. The key itself is not: only its hash. */
export interface KeyRecord {
  /** SHA-256 of the key in lower-case hex, as {@link hashApiKey} makes it. */
  readonly hash: string
  readonly type: 'organization' | 'team'
  /** The ID of the organization or team that the key belongs to, digits only. */
  readonly ownerId: string
  /** Registering domains needs `domains:create`. */
  readonly scopes: readonly string[]
  /** When set, whatever the date, the key is refused. */
  readonly revokedAt?: Date | null
}

/** Where a host keeps its API keys. */
export interface KeyStore {
  /**
   * Finds a key by its hash.
   *
   * MUST resolve to `null` for an unknown hash, and MUST reject when it cannot tell: the call then answers 500,
   * where `null` would answer 401 and make a caller throw away a good key.
   *
   * @param hash 64 lower-case hex digits.
   */
  findKey(hash: string): Awaitable<KeyRecord | null>
}

/** A key store in memory. */
export interface MemoryKeyStore extends KeyStore {
  /** Adds a key, or replaces the one with the same hash: that is how to revoke it or change its scopes. */
  addKey(record: KeyRecord): void
}

/** Makes an empty {@link MemoryKeyStore}: for development, tests, and hosts with a handful of keys in their settings. */
export function createMemoryKeyStore(): MemoryKeyStore {
  const records = new Map<string, KeyRecord>()
  return {
    findKey: hash => records.get(hash) ?? null,
    addKey: record => void records.set(record.hash, record),
  }
}
