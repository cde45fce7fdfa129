import type { Awaitable } from '../time/awaitable.ts'
import type { KeyOwner, KeyRecord, StoredKeyRecord } from './key-record.ts'

/** Where an application keeps its API keys. */
export interface KeyStore {
  /**
   * Finds a key by its hash.
   *
   * MUST resolve to `null` for an unknown hash. MUST reject if it cannot tell: the call then answers 500. `null` would
   * answer 401, and a caller would throw away a good key. A record without the fields of a {@link KeyRecord} is
   * answered 500 as well, and the log says what is missing.
   *
   * @param hash 64 lower-case hex digits.
   */
  findKey(hash: string): Awaitable<KeyRecord | null>
}

/** What the key stores of this package have in common. They save hashes, and never a key. */
export interface ManagedKeyStore extends KeyStore {
  findKey(hash: string): Awaitable<StoredKeyRecord | null>
  /**
   * Adds a key, or replaces all of the record with the same hash, for instance to change its scopes. To change no more
   * than the expiry use {@link ManagedKeyStore.expireKey}: a record that was found and is added again undoes a
   * revocation in between.
   *
   * @throws {TypeError} for a record that is wrong; the message says what to pass instead.
   */
  addKey(record: KeyRecord): Awaitable<void>
  /**
   * Refuses a key from now on. A key that was revoked before keeps its date.
   *
   * @returns Whether the store has the key.
   * @throws {TypeError} for anything but a hash, such as the key itself.
   */
  revokeKey(hash: string): Awaitable<boolean>
  /**
   * Refuses a key from a moment on, and changes nothing else: a revoked key stays revoked.
   *
   * @param at The moment; `null` for a key that does not expire.
   * @returns Whether the store has the key.
   * @throws {TypeError} for anything but a hash and a date.
   *
   * @example
   * // Rotation: both keys work for a week.
   * const hash = await hashApiKey(apiKey)
   * await keys.expireKey(hash, new Date(Date.now() + 7 * 86_400_000))
   */
  expireKey(hash: string, at: Date | null): Awaitable<boolean>
  /**
   * Lists the records of an owner's keys, including revoked and expired ones, the oldest first. Keys of the same
   * millisecond come in the order in which they were added; in PostgreSQL in any order.
   *
   * @throws {TypeError} for anything but an owner.
   */
  listKeys(owner: KeyOwner): Awaitable<readonly StoredKeyRecord[]>
}

/** A store whose methods return values, and no promises. */
export type Synchronous<Store> = {
  [Method in keyof Store]: Store[Method] extends (...parameters: infer Parameters) => infer Returned
    ? (...parameters: Parameters) => Awaited<Returned>
    : never
}

/** A store whose methods always return promises. */
export type Promised<Store> = {
  [Method in keyof Store]: Store[Method] extends (...parameters: infer Parameters) => infer Returned
    ? (...parameters: Parameters) => Promise<Awaited<Returned>>
    : never
}
