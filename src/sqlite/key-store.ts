import type { Awaitable } from '../awaitable.ts'
import { refuseKey } from '../keys/api-key.ts'
import { requireRecord } from '../keys/key-record.ts'
import type { KeyOwner, KeyRecord, KeyStore } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { takeTurn } from './turns.ts'

/** Options of {@link createSqliteKeyStore}. */
export interface SqliteKeyStoreOptions extends SqliteConnectionOptions {}

/** A key store in SQLite. */
export interface SqliteKeyStore extends KeyStore {
  /** Adds a key, or replaces the one with the same hash, for instance to change its scopes. */
  addKey(record: KeyRecord): Awaitable<void>
  /**
   * Refuses a key from now on. A key that was revoked before keeps its date.
   *
   * @returns Whether the store has the key.
   * @throws {TypeError} for a key in place of its hash.
   */
  revokeKey(hash: string): Awaitable<boolean>
  /**
   * Lists the records of an owner's keys, including revoked and expired ones, in the order in which they were added.
   */
  listKeys(owner: KeyOwner): Awaitable<readonly KeyRecord[]>
}

interface KeyRow {
  readonly hash: string
  readonly type: KeyRecord['type']
  readonly owner_id: string
  readonly scopes: string
  readonly revoked_at: number | null
  readonly expires_at: number | null
}

/** The SQL of {@link createSqliteKeyStore}. */
export const keyStatements = {
  find: 'SELECT hash, type, owner_id, scopes, revoked_at, expires_at FROM domain_registration_keys WHERE hash = ?',
  list: `SELECT hash, type, owner_id, scopes, revoked_at, expires_at FROM domain_registration_keys
    WHERE type = ? AND owner_id = ? ORDER BY created_at, hash`,
  // A later time than that of the owner's last key, so that keys of the same millisecond keep their order.
  add: `INSERT INTO domain_registration_keys (type, owner_id, created_at, hash, scopes, revoked_at, expires_at)
    VALUES (?, ?,
      max(?, (SELECT coalesce(max(created_at) + 1, 0) FROM domain_registration_keys WHERE type = ? AND owner_id = ?)),
      ?, ?, ?, ?)
    ON CONFLICT (hash) DO UPDATE SET type = excluded.type, owner_id = excluded.owner_id, scopes = excluded.scopes,
      revoked_at = excluded.revoked_at, expires_at = excluded.expires_at`,
  revoke: `UPDATE domain_registration_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ? RETURNING hash`,
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
 * const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
 * await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
 */
export function createSqliteKeyStore(options: SqliteKeyStoreOptions): SqliteKeyStore {
  requireOptions(options, connectionRules)
  const { driver, timeLimit } = connect(options)
  const find = driver.prepare<KeyRow>(keyStatements.find)
  const list = driver.prepare<KeyRow>(keyStatements.list)
  const add = driver.prepare(keyStatements.add)
  const revoke = driver.prepare<{ hash: string }>(keyStatements.revoke)

  return {
    findKey: hash =>
      takeTurn(timeLimit, () => {
        const [row] = find(hash)
        return row ? toRecord(row) : null
      }),

    addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, revokedAt, expiresAt } = record
      const dates = [revokedAt, expiresAt].map(date => date?.getTime() ?? null)
      const owner = [type, ownerId]
      return takeTurn(timeLimit, () => void add(...owner, Date.now(), ...owner, hash, JSON.stringify(scopes), ...dates))
    },

    listKeys: ({ type, ownerId }) => takeTurn(timeLimit, () => list(type, ownerId).map(toRecord)),

    revokeKey(hash) {
      refuseKey(hash)
      return takeTurn(timeLimit, () => revoke(Date.now(), hash).length > 0)
    },
  }
}

const toRecord = (row: KeyRow): KeyRecord => ({
  hash: row.hash,
  type: row.type,
  ownerId: row.owner_id,
  scopes: JSON.parse(row.scopes),
  revokedAt: toDate(row.revoked_at),
  expiresAt: toDate(row.expires_at),
})

const toDate = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds))
