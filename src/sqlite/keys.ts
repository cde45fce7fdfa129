import { requireChanges, requireHash, requireOwner, requireRecord } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { type KeyRow, keyColumns, toSelectList, toStoredRecord, writeOptionalTime } from '../sql/rows.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { prepareAll, statement } from './statements.ts'

/** Options of {@link createSqliteKeyStore}. */
export interface SqliteKeyStoreOptions extends SqliteConnectionOptions {}

/** A key store in SQLite. */
export interface SqliteKeyStore extends ManagedKeyStore {}

const row = toSelectList<KeyRow>(keyColumns)

export const keyStatements = {
  find: statement<KeyRow>(`SELECT ${row} FROM domain_registration_keys WHERE hash = ?`),
  list: statement<KeyRow>(
    `SELECT ${row} FROM domain_registration_keys WHERE type = ? AND owner_id = ? ORDER BY created_at, rowid`,
  ),
  add: statement<object>(`INSERT INTO domain_registration_keys
      (hash, type, owner_id, scopes, label, hint, created_at, revoked_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, coalesce(?, ?), ?, ?)
    ON CONFLICT (hash) DO NOTHING RETURNING hash`),
  revoke: statement<object>(
    `UPDATE domain_registration_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ? RETURNING hash`,
  ),
  update: statement<object>(`UPDATE domain_registration_keys SET scopes = coalesce(?, scopes),
      label = CASE WHEN ? THEN label ELSE ? END, expires_at = CASE WHEN ? THEN expires_at ELSE ? END
    WHERE hash = ? RETURNING hash`),
} as const

/**
 * Creates a store for API keys in SQLite. It saves the hash of each key, never the key itself. The store creates its
 * table if necessary. A store from {@link createSqliteStore} may use the same database.
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 * @throws {Error} if the database cannot be used; the message says why.
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
  const { driver, read, transact } = connect(options)
  const { find, list, add, revoke, update } = prepareAll(driver, keyStatements)

  /** Returns whether the key exists. */
  function requireChange(hash: string, changed: readonly object[]): boolean {
    if (changed.length === 0 && find(hash).length > 0)
      throw new Error('A trigger skipped a row, so the API key was not changed')
    return changed.length > 0
  }

  return {
    findKey: hash =>
      read(() => {
        const [row] = find(hash)
        return row ? toStoredRecord(row) : null
      }),

    addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, label = null, hint = null } = record
      const createdAt = writeOptionalTime(record.createdAt)
      const [revokedAt, expiresAt] = [writeOptionalTime(record.revokedAt), writeOptionalTime(record.expiresAt)]
      const texts = [hash, type, ownerId, JSON.stringify(scopes), label, hint]
      return transact(() => {
        const isAdded = add(...texts, createdAt, Date.now(), revokedAt, expiresAt).length > 0
        if (!isAdded && find(hash).length === 0)
          throw new Error('A trigger skipped a row, so the API key was not added')
        return isAdded
      })
    },

    revokeKey(hash) {
      requireHash(hash)
      return transact(() => requireChange(hash, revoke(Date.now(), hash)))
    },

    updateKey(hash, changes) {
      requireHash(hash)
      requireChanges(changes)
      const { label, scopes, expiresAt } = changes
      const keeps = (value: unknown) => Number(value === undefined)
      const changed = scopes === undefined ? null : JSON.stringify(scopes)
      const values = [changed, keeps(label), label ?? null, keeps(expiresAt), writeOptionalTime(expiresAt), hash]
      return transact(() => requireChange(hash, update(...values)))
    },

    listKeys(owner) {
      requireOwner(owner)
      return read(() => list(owner.type, owner.ownerId).map(toStoredRecord))
    },
  }
}
