import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { refuseKey } from '../keys/api-key.ts'
import { requireRecord } from '../keys/key-record.ts'
import type { KeyOwner, KeyRecord, KeyStore } from '../keys/key-store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { DEFAULT_TIME_LIMIT, type DriverOptions, type Statement, toDatabase } from './connection.ts'
import { prepare } from './prepare.ts'
import { type PostgresSchemaOptions, type Tables, toTables } from './schema.ts'

/** Options of {@link createPostgresKeyStore}. */
export interface PostgresKeyStoreOptions extends PostgresSchemaOptions, DriverOptions {
  /** Milliseconds for each call, including the wait for a connection. Default 10,000. */
  timeLimit?: number | undefined
}

/** A key store in PostgreSQL. */
export interface PostgresKeyStore extends KeyStore {
  findKey(hash: string): Promise<KeyRecord | null>
  /** Adds a key, or replaces the one with the same hash, for instance to change its scopes. */
  addKey(record: KeyRecord): Promise<void>
  /**
   * Refuses a key from now on. A key that was revoked before keeps its date.
   *
   * @returns Whether the store has the key.
   * @throws {TypeError} for a key in place of its hash.
   */
  revokeKey(hash: string): Promise<boolean>
  /**
   * Lists the records of an owner's keys, including revoked and expired ones, in the order in which they were added;
   * those that were added in one transaction of yours come in any order.
   */
  listKeys(owner: KeyOwner): Promise<readonly KeyRecord[]>
}

interface KeyRow {
  readonly hash: string
  readonly type: KeyRecord['type']
  readonly owner_id: string
  /** As JSON, with times in Unix milliseconds, because drivers read arrays and dates differently. */
  readonly scopes: string
  readonly revoked_at: number | null
  readonly expires_at: number | null
}

/**
 * Keeps API keys in PostgreSQL, by their hash. Create the table first; see {@link migrate}.
 *
 * @example
 * const keys = createPostgresKeyStore({ pool })
 * const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
 * await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
 */
export function createPostgresKeyStore(options: PostgresKeyStoreOptions): PostgresKeyStore {
  const { timeLimit = DEFAULT_TIME_LIMIT } = options
  requireTimeLimit('timeLimit', timeLimit)
  const database = toDatabase(options)
  const statements = createKeyStatements(toTables(options))

  const ask = <Row>(statement: Statement<Row>, ...values: readonly unknown[]) =>
    database.ask(createDeadline(timeLimit), statement, ...values)

  return {
    async findKey(hash) {
      const [row] = await ask(statements.find, hash)
      return row ? toRecord(row) : null
    },

    async addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, revokedAt, expiresAt } = record
      const dates = [revokedAt, expiresAt].map(date => date?.toISOString() ?? null)
      await ask(statements.add, hash, type, ownerId, toArrayLiteral(scopes), ...dates)
    },

    async revokeKey(hash) {
      refuseKey(hash)
      return (await ask(statements.revoke, hash, new Date().toISOString())).length > 0
    },

    async listKeys({ type, ownerId }) {
      return (await ask(statements.list, type, ownerId)).map(toRecord)
    },
  }
}

function createKeyStatements({ keys }: Tables) {
  const milliseconds = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`
  const row = `hash, type, owner_id, array_to_json(scopes)::text AS scopes,
         ${milliseconds('revoked_at')}, ${milliseconds('expires_at')}`
  return {
    find: prepare<KeyRow>('find_key', `SELECT ${row} FROM ${keys} WHERE hash = $1`),
    list: prepare<KeyRow>(
      'list_keys',
      `SELECT ${row} FROM ${keys} WHERE type = $1 AND owner_id = $2 ORDER BY created_at, hash`,
    ),
    add: prepare(
      'add_key',
      `INSERT INTO ${keys} (hash, type, owner_id, scopes, revoked_at, expires_at)
       VALUES ($1, $2, $3, $4::text[], $5::timestamptz, $6::timestamptz)
       ON CONFLICT (hash) DO UPDATE SET (type, owner_id, scopes, revoked_at, expires_at) =
         (excluded.type, excluded.owner_id, excluded.scopes, excluded.revoked_at, excluded.expires_at)`,
    ),
    revoke: prepare<{ hash: string }>(
      'revoke_key',
      `UPDATE ${keys} SET revoked_at = coalesce(revoked_at, $2::timestamptz) WHERE hash = $1 RETURNING hash`,
    ),
  }
}

const toRecord = (row: KeyRow): KeyRecord => ({
  hash: row.hash,
  type: row.type,
  ownerId: row.owner_id,
  scopes: JSON.parse(row.scopes) as string[],
  revokedAt: toDate(row.revoked_at),
  expiresAt: toDate(row.expires_at),
})

const toDate = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds))
