import { requireExpiry, requireHash, requireOwner, requireRecord, type StoredKeyRecord } from './key-record.ts'
import type { ManagedKeyStore, Synchronous } from './key-store.ts'

/** A key store in memory. */
export interface MemoryKeyStore extends Synchronous<ManagedKeyStore> {}

/**
 * Makes an empty {@link MemoryKeyStore}, for development, tests, and applications with a handful of keys in their
 * settings.
 *
 * @example
 * const keys = createMemoryKeyStore()
 * const { key, hash, hint } = await generateApiKey({ type: 'team', id: '42' })
 * keys.addKey({ hash, hint, type: 'team', ownerId: '42', scopes: ['domains:create'], label: 'Nightly import' })
 * keys.revokeKey(hash)
 */
export function createMemoryKeyStore(): MemoryKeyStore {
  const records = new Map<string, StoredKeyRecord>()

  function change(hash: string, toChanges: (record: StoredKeyRecord) => Partial<StoredKeyRecord>): boolean {
    const record = records.get(hash)
    if (record) records.set(hash, Object.freeze({ ...record, ...toChanges(record) }))
    return record !== undefined
  }

  return {
    findKey: hash => records.get(hash) ?? null,
    addKey(record) {
      requireRecord(record)
      // A copy: the application may change its object later.
      const stored = {
        ...record,
        scopes: Object.freeze([...record.scopes]),
        label: record.label ?? null,
        hint: record.hint ?? null,
        createdAt: record.createdAt ?? records.get(record.hash)?.createdAt ?? new Date(),
        revokedAt: record.revokedAt ?? null,
        expiresAt: record.expiresAt ?? null,
      }
      records.set(record.hash, Object.freeze(stored))
    },
    revokeKey(hash) {
      requireHash(hash)
      return change(hash, ({ revokedAt }) => ({ revokedAt: revokedAt ?? new Date() }))
    },
    expireKey(hash, at) {
      requireHash(hash)
      requireExpiry(at)
      return change(hash, () => ({ expiresAt: at }))
    },
    listKeys(owner) {
      requireOwner(owner)
      return [...records.values()]
        .filter(({ type, ownerId }) => type === owner.type && ownerId === owner.ownerId)
        .sort((first, second) => first.createdAt.getTime() - second.createdAt.getTime())
    },
  }
}
