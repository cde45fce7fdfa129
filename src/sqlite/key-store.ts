import { requireExpiry, requireHash, requireOwner, requireRecord } from '../keys/key-record.ts'
import { type KeyRow, toStoredRecord } from '../keys/key-row.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { toSelectList } from '../registry/row.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'

/** Options of {@link createSqliteKeyStore}. */
export interface SqliteKeyStoreOptions extends SqliteConnectionOptions {}

/** A key store in SQLite. */
export interface SqliteKeyStore extends ManagedKeyStore {}

const row = toSelectList<KeyRow>({
  hash: 'hash',
  type: 'type',
  ownerId: 'owner_id',
  scopes: 'scopes',
  label: 'label',
  hint: 'hint',
  createdAt: 'created_at',
  revokedAt: 'revoked_at',
  expiresAt: 'expires_at',
})

/** The SQL of {@link createSqliteKeyStore}. */
export const keyStatements = {
  find: `SELECT ${row} FROM domain_registration_keys WHERE hash = ?`,
  list: `SELECT ${row} FROM domain_registration_keys
    WHERE type = ? AND owner_id = ? ORDER BY created_at, rowid`,
  add: `INSERT INTO domain_registration_keys
      (hash, type, owner_id, scopes, label, hint, created_at, revoked_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, coalesce(?, ?), ?, ?)
    ON CONFLICT (hash) DO UPDATE SET type = excluded.type, owner_id = excluded.owner_id, scopes = excluded.scopes,
      label = excluded.label, hint = excluded.hint, created_at = coalesce(?, created_at),
      revoked_at = excluded.revoked_at, expires_at = excluded.expires_at`,
  revoke: `UPDATE domain_registration_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ? RETURNING hash`,
  expire: `UPDATE domain_registration_keys SET expires_at = ? WHERE hash = ? RETURNING hash`,
} as const

/**
 * Keeps API keys in SQLite, by their hash. Creates its table if it is missing. It may share the database with
 * {@link createSqliteStore}.
 *
 * @throws {TypeError} for an option that cannot be used.
 * @throws {Error} when the database cannot be used, and says why.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const keys = createSqliteKeyStore({ database: new DatabaseSync('registrations.db') })
 * const { key, hash, hint } = await generateApiKey({ type: 'team', id: '1' })
 * await keys.addKey({ hash, hint, type: 'team', ownerId: '1', scopes: ['domains:create'] })
 */
export function createSqliteKeyStore(options: SqliteKeyStoreOptions): SqliteKeyStore {
  requireOptions(options, connectionRules)
  const { driver, ask, transact } = connect(options)
  const find = driver.prepare<KeyRow>(keyStatements.find)
  const list = driver.prepare<KeyRow>(keyStatements.list)
  const add = driver.prepare(keyStatements.add)
  const revoke = driver.prepare(keyStatements.revoke)
  const expire = driver.prepare(keyStatements.expire)

  return {
    findKey: hash =>
      ask(() => {
        const [row] = find(hash)
        return row ? toStoredRecord(row) : null
      }),

    addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, label = null, hint = null } = record
      const [createdAt = null, revokedAt = null, expiresAt = null] = [
        record.createdAt,
        record.revokedAt,
        record.expiresAt,
      ].map(date => date?.getTime())
      const texts = [hash, type, ownerId, JSON.stringify(scopes), label, hint]
      return transact(() => void add(...texts, createdAt, Date.now(), revokedAt, expiresAt, createdAt))
    },

    revokeKey(hash) {
      requireHash(hash)
      return transact(() => revoke(Date.now(), hash).length > 0)
    },

    expireKey(hash, at) {
      requireHash(hash)
      requireExpiry(at)
      return transact(() => expire(at?.getTime() ?? null, hash).length > 0)
    },

    listKeys(owner) {
      requireOwner(owner)
      return ask(() => list(owner.type, owner.ownerId).map(toStoredRecord))
    },
  }
}
