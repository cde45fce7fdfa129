import { requireChanges, requireHash, requireOwner, requireRecord } from '../keys/key-record.ts'
import { type KeyRow, keyColumns, toStoredRecord } from '../keys/key-row.ts'
import type { ManagedKeyStore, Promised } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { toSelectList } from '../registry/row.ts'
import { createDeadline } from '../time/deadline.ts'
import { DEFAULT_TRANSACTION_TIME_LIMIT, type DriverOptions, driverRules, toDatabase } from './driver.ts'
import { type PostgresSchemaOptions, schemaRule, type Tables, toTables } from './schema.ts'
import { prepared, type Statement, toMilliseconds, toTime, type Value } from './statement.ts'

/** Options of {@link createPostgresKeyStore}. */
export interface PostgresKeyStoreOptions extends PostgresSchemaOptions, DriverOptions {
  /** Milliseconds for each call, including the wait for a connection. Default 10,000. */
  timeLimit?: number | undefined
}

/** A key store in PostgreSQL. */
export interface PostgresKeyStore extends Promised<ManagedKeyStore> {}

/**
 * Keeps API keys in PostgreSQL, by their hash. Create the table first; see {@link migrate}.
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 *
 * @example
 * const keys = createPostgresKeyStore({ database })
 * const { key, hash, hint } = await generateApiKey({ type: 'team', id: '1' })
 * await keys.addKey({ hash, hint, type: 'team', ownerId: '1', scopes: ['domains:create'] })
 */
export function createPostgresKeyStore(options: PostgresKeyStoreOptions): PostgresKeyStore {
  requireOptions(options, { ...driverRules, schema: schemaRule })
  const { timeLimit = DEFAULT_TRANSACTION_TIME_LIMIT } = options
  const database = toDatabase(options)
  const statements = createKeyStatements(toTables(options))

  const ask = <Row>(statement: Statement<Row>, ...values: readonly Value[]) =>
    database.ask(createDeadline(timeLimit), statement, ...values)

  return {
    async findKey(hash) {
      const [row] = await ask(statements.find, hash)
      return row ? toStoredRecord(row) : null
    },

    async addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, label = null, hint = null } = record
      const dates = [record.createdAt, record.revokedAt, record.expiresAt].map(toMillisecondsOf)
      return (await ask(statements.add, hash, type, ownerId, scopes, label, hint, ...dates)).length > 0
    },

    async revokeKey(hash) {
      requireHash(hash)
      return (await ask(statements.revoke, hash, Date.now())).length > 0
    },

    async updateKey(hash, changes) {
      requireHash(hash)
      requireChanges(changes)
      const { label, scopes, expiresAt } = changes
      const keeps = (value: unknown) => String(value === undefined)
      const values = [scopes ?? null, keeps(label), label ?? null, keeps(expiresAt), toMillisecondsOf(expiresAt)]
      return (await ask(statements.update, hash, ...values)).length > 0
    },

    async listKeys(owner) {
      requireOwner(owner)
      return (await ask(statements.list, owner.type, owner.ownerId)).map(toStoredRecord)
    },
  }
}

const toMillisecondsOf = (date: Date | null | undefined) => date?.getTime() ?? null

/** In an `UPDATE`, Citus accepts a time as a number, but not as a string, whose meaning depends on settings. */
function createKeyStatements({ keys }: Tables) {
  const row = toSelectList<KeyRow>({
    ...keyColumns,
    scopes: 'array_to_json(scopes)::text',
    createdAt: toMilliseconds('created_at'),
    revokedAt: toMilliseconds('revoked_at'),
    expiresAt: toMilliseconds('expires_at'),
  })
  return {
    find: prepared<KeyRow>('find_key', `SELECT ${row} FROM ${keys} WHERE hash = $1`),
    list: prepared<KeyRow>(
      'list_keys',
      `SELECT ${row} FROM ${keys} WHERE type = $1 AND owner_id = $2 ORDER BY created_at, hash`,
    ),
    add: prepared<{ hash: string }>(
      'add_key',
      `INSERT INTO ${keys} (hash, type, owner_id, scopes, label, hint, created_at, revoked_at, expires_at)
       VALUES ($1, $2, $3, $4::text[], $5, $6,
         coalesce(${toTime('$7::double precision')}, now()),
         ${toTime('$8::double precision')}, ${toTime('$9::double precision')})
       ON CONFLICT (hash) DO NOTHING RETURNING hash`,
    ),
    revoke: prepared<{ hash: string }>(
      'revoke_key',
      `UPDATE ${keys} SET revoked_at = coalesce(revoked_at, ${toTime('$2::double precision')})
       WHERE hash = $1 RETURNING hash`,
    ),
    update: prepared<{ hash: string }>(
      'update_key',
      `UPDATE ${keys} SET scopes = coalesce($2::text[], scopes),
         label = CASE WHEN $3::text::boolean THEN label ELSE $4::text END,
         expires_at = CASE WHEN $5::text::boolean THEN expires_at ELSE ${toTime('$6::double precision')} END
       WHERE hash = $1 RETURNING hash`,
    ),
  }
}
