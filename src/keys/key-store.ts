import type { Awaitable } from '../time/awaitable.ts'
import type { KeyChanges, KeyOwner, KeyRecord, StoredKeyRecord } from './key-record.ts'

/** Where an application keeps its API keys. */
export interface KeyStore {
  /**
   * Finds a key by its hash.
   *
   * MUST resolve to `null` for an unknown hash. MUST reject if the lookup fails, so that the call returns 500. If
   * `findKey` resolved to `null` instead, the call would return 401, and the client would discard a valid key. A record
   * without the properties of a {@link KeyRecord} also leads to 500, and the log says what is missing.
   *
   * @param hash 64 lower-case hex digits.
   */
  findKey(hash: string): Awaitable<KeyRecord | null>
}

/** The interface that all key stores of this package share. These stores save hashes, never keys. */
export interface ManagedKeyStore extends KeyStore {
  findKey(hash: string): Awaitable<StoredKeyRecord | null>
  /**
   * Adds a key. If the store already has this hash, its record does not change, so a server may add its configured
   * keys at each start.
   *
   * @returns Whether the key was added; `false` if the store already had the key.
   * @throws {TypeError} if the record is invalid or has an unknown scope; the message says what to pass instead.
   */
  addKey(record: KeyRecord): Awaitable<boolean>
  /**
   * Revokes a key, so it is rejected from now on. This cannot be undone. A key that is already revoked keeps its date
   * of revocation.
   *
   * @returns Whether the store has the key.
   * @throws {TypeError} if the string is not a hash but, for instance, the key itself.
   */
  revokeKey(hash: string): Awaitable<boolean>
  /**
   * Changes the label, the scopes or the expiry of a key, and nothing else: a revoked key stays revoked.
   *
   * @param changes A property that is missing or `undefined` keeps its value.
   * @returns Whether the store has the key.
   * @throws {TypeError} if the string is not a hash, or if a property is invalid or cannot be changed.
   *
   * @example
   * // Rotation: both keys work for a week.
   * const hash = await hashApiKey(apiKey)
   * await keys.updateKey(hash, { expiresAt: new Date(Date.now() + 7 * 86_400_000) })
   */
  updateKey(hash: string, changes: KeyChanges): Awaitable<boolean>
  /**
   * Lists the records of an owner's keys, including revoked and expired ones, oldest first. Keys from the same
   * millisecond are in the order in which they were added; in PostgreSQL, their order is undefined.
   *
   * @throws {TypeError} if the value is not an owner.
   */
  listKeys(owner: KeyOwner): Awaitable<readonly StoredKeyRecord[]>
}
