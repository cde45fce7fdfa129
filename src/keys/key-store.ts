import type { Awaitable } from '../awaitable.ts'
import { refuseKey } from './api-key.ts'
import { type KeyRecord, requireRecord } from './key-record.ts'

export type { KeyRecord } from './key-record.ts'

/** Where a host keeps its API keys. */
export interface KeyStore {
  /**
   * Finds a key by its hash.
   *
   * MUST resolve to `null` for an unknown hash. MUST reject if it cannot tell: the call then answers 500. `null` would
   * answer 401, and a caller would throw away a good key.
   *
   * @param hash 64 lower-case hex digits.
   */
  findKey(hash: string): Awaitable<KeyRecord | null>
}

/** An organization or a team that owns keys. */
export interface KeyOwner {
  readonly type: 'organization' | 'team'
  /** The ID of the organization or team, digits only. */
  readonly ownerId: string
}

/** A key store in memory. */
export interface MemoryKeyStore extends KeyStore {
  findKey(hash: string): KeyRecord | null
  /**
   * Adds a key, or replaces the one with the same hash, for instance to change its scopes.
   *
   * @throws {TypeError} for a record that is wrong; the message says what to pass instead.
   */
  addKey(record: KeyRecord): void
  /**
   * Refuses a key from now on. A key that was revoked before keeps its date.
   *
   * @returns Whether the store has the key.
   * @throws {TypeError} for a key in place of its hash.
   */
  revokeKey(hash: string): boolean
  /**
   * Lists the records of an owner's keys, including revoked and expired ones, in the order in which they were added.
   */
  listKeys(owner: KeyOwner): readonly KeyRecord[]
}

/**
 * Makes an empty {@link MemoryKeyStore}, for development, tests, and hosts with a handful of keys in their settings.
 *
 * @example
 * const keys = createMemoryKeyStore()
 * const { key, hash } = await generateApiKey({ type: 'team', id: '42' })
 * keys.addKey({ hash, type: 'team', ownerId: '42', scopes: ['domains:create'], expiresAt: new Date('2030-01-01') })
 * keys.revokeKey(hash)
 */
export function createMemoryKeyStore(): MemoryKeyStore {
  const records = new Map<string, KeyRecord>()
  return {
    findKey: hash => records.get(hash) ?? null,
    addKey(record) {
      requireRecord(record)
      // A copy: the host may change its object later.
      records.set(record.hash, Object.freeze({ ...record, scopes: Object.freeze([...record.scopes]) }))
    },
    revokeKey(hash) {
      refuseKey(hash)
      const record = records.get(hash)
      if (record) records.set(hash, Object.freeze({ ...record, revokedAt: record.revokedAt ?? new Date() }))
      return record !== undefined
    },
    listKeys: ({ type, ownerId }) =>
      [...records.values()].filter(record => record.type === type && record.ownerId === ownerId),
  }
}
