import { requireChanges, requireHash, requireOwner, requireRecord, type StoredKeyRecord } from './key-record.ts'
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
      if (records.has(record.hash)) return false
      // A copy: the application may change its object later.
      const stored = {
        ...record,
        scopes: Object.freeze([...record.scopes]),
        label: record.label ?? null,
        hint: record.hint ?? null,
        createdAt: record.createdAt ?? new Date(),
        revokedAt: record.revokedAt ?? null,
        expiresAt: record.expiresAt ?? null,
      }
      records.set(record.hash, Object.freeze(stored))
      return true
    },
    revokeKey(hash) {
      requireHash(hash)
      return change(hash, ({ revokedAt }) => ({ revokedAt: revokedAt ?? new Date() }))
    },
    updateKey(hash, changes) {
      requireHash(hash)
      requireChanges(changes)
      return change(hash, ({ label, scopes, expiresAt }) => ({
        label: changes.label === undefined ? label : changes.label,
        scopes: changes.scopes === undefined ? scopes : Object.freeze([...changes.scopes]),
        expiresAt: changes.expiresAt === undefined ? expiresAt : changes.expiresAt,
      }))
    },
    listKeys(owner) {
      requireOwner(owner)
      return [...records.values()]
        .filter(({ type, ownerId }) => type === owner.type && ownerId === owner.ownerId)
        .sort((first, second) => first.createdAt.getTime() - second.createdAt.getTime())
    },
  }
}
