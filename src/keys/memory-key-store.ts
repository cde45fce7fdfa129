import {
  type KeyRecord,
  requireChanges,
  requireHash,
  requireOwner,
  requireRecord,
  type StoredKeyRecord,
} from './key-record.ts'
import type { ManagedKeyStore } from './key-store.ts'

/** A store whose methods return values, not promises. */
type Synchronous<Store> = {
  [Method in keyof Store]: Store[Method] extends (...parameters: infer Parameters) => infer Returned
    ? (...parameters: Parameters) => Awaited<Returned>
    : never
}

/** A key store in memory. */
export interface MemoryKeyStore extends Synchronous<ManagedKeyStore> {}

/**
 * Creates an empty {@link MemoryKeyStore}, for development, tests, and applications with a handful of keys in their
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
    if (record) records.set(hash, copy({ ...record, ...toChanges(record) }))
    return record !== undefined
  }

  return {
    findKey(hash) {
      const record = records.get(hash)
      return record ? copy(record) : null
    },
    addKey(record) {
      requireRecord(record)
      if (records.has(record.hash)) return false
      records.set(record.hash, copy(record))
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
        scopes: changes.scopes ?? scopes,
        expiresAt: changes.expiresAt === undefined ? expiresAt : changes.expiresAt,
      }))
    },
    listKeys(owner) {
      requireOwner(owner)
      return [...records.values()]
        .filter(({ type, ownerId }) => type === owner.type && ownerId === owner.ownerId)
        .map(copy)
        .sort((first, second) => first.createdAt.getTime() - second.createdAt.getTime())
    },
  }
}

/**
 * Copies a record, because the application may later change the objects that it passed or received. Reads each property
 * by its name, because properties may be inherited, as in many entities of an ORM.
 */
const copy = (record: KeyRecord): StoredKeyRecord => ({
  hash: record.hash,
  type: record.type,
  ownerId: record.ownerId,
  scopes: [...record.scopes],
  label: record.label ?? null,
  hint: record.hint ?? null,
  createdAt: toDate(record.createdAt) ?? new Date(),
  revokedAt: toDate(record.revokedAt),
  expiresAt: toDate(record.expiresAt),
})

const toDate = (date: Date | null | undefined) => (date ? new Date(date) : null)
