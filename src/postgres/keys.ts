import { requireChanges, requireHash, requireOwner, requireRecord, type StoredKeyRecord } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { type KeyRow, keyColumns, toSelectList, toStoredRecord, writeOptionalTime } from '../store/rows.ts'
import { createDeadline } from '../time/deadline.ts'
import { prepared, type Statement, toMilliseconds, toTime, type Value, WAIT_FOR_DISK } from './connection.ts'
import { DEFAULT_TRANSACTION_TIME_LIMIT, type DriverOptions, driverRules, toDatabase } from './drivers.ts'
import { type PostgresSchemaOptions, schemaRule, type Tables, toTables } from './schema.ts'

/** Options of {@link createPostgresKeyStore}. */
export interface PostgresKeyStoreOptions extends PostgresSchemaOptions, DriverOptions {
  /** Milliseconds for each call, including the wait for a connection. Default 10,000. */
  timeLimit?: number | undefined
}

/** A store whose methods always return promises. */
type Promised<Store> = {
  [Method in keyof Store]: Store[Method] extends (...parameters: infer Parameters) => infer Returned
    ? (...parameters: Parameters) => Promise<Awaited<Returned>>
    : never
}

/** A key store in PostgreSQL. */
export interface PostgresKeyStore extends Promised<ManagedKeyStore> {}

/**
 * Creates a store for API keys in PostgreSQL. It saves the hash of each key, never the key itself. Create its table
 * first; see {@link migrate}.
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
  const database = toDatabase(options, 'keys')
  const tables = toTables(options)
  const statements = createKeyStatements(tables)

  /** Begins a call. All statements of the call share one time limit. */
  function begin(): Send {
    const deadline = createDeadline(timeLimit)
    return (statement, ...values) => database.send(deadline, statement, ...values)
  }

  async function find(send: Send, hash: string): Promise<StoredKeyRecord | null> {
    const [row] = await send(statements.find, hash)
    // Row-level security is checked only if no key is found, so finding a key takes one round trip.
    if (!row) await requireVisible(send)
    return row ? toStoredRecord(row) : null
  }

  /** @throws {Error} if row-level security applies to the role: a hidden key must not seem to be missing. */
  async function requireVisible(send: Send): Promise<void> {
    const [row] = await send(statements.findSecurity, tables.keys)
    if (row?.isActive !== 'false') throw new Error('Row-level security may hide API keys from this role')
  }

  async function update(hash: string, statement: Statement<Hash>, ...values: readonly Value[]): Promise<boolean> {
    const send = begin()
    if ((await send(statement, hash, ...values)).length > 0) return true
    if ((await find(send, hash)) === null) return false
    throw new Error('A trigger or a policy prevented the change of an API key')
  }

  return {
    findKey: async hash => find(begin(), hash),

    async addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, label = null, hint = null } = record
      const dates = [record.createdAt, record.revokedAt, record.expiresAt].map(writeOptionalTime)
      const send = begin()
      if ((await send(statements.add, hash, type, ownerId, scopes, label, hint, ...dates)).length > 0) return true
      if ((await find(send, hash)) === null) throw new Error('A trigger skipped a row, so the API key was not added')
      return false
    },

    async revokeKey(hash) {
      requireHash(hash)
      return update(hash, statements.revoke, Date.now())
    },

    async updateKey(hash, changes) {
      requireHash(hash)
      requireChanges(changes)
      const { label, scopes, expiresAt } = changes
      const keeps = (value: unknown) => String(value === undefined)
      const values = [scopes ?? null, keeps(label), label ?? null, keeps(expiresAt), writeOptionalTime(expiresAt)]
      return update(hash, statements.update, ...values)
    },

    async listKeys(owner) {
      requireOwner(owner)
      const send = begin()
      await requireVisible(send)
      return (await send(statements.list, owner.type, owner.ownerId)).map(toStoredRecord)
    },
  }
}

/** Sends a statement of a call. */
type Send = <Row>(statement: Statement<Row>, ...values: readonly Value[]) => Promise<readonly Row[]>

interface Hash {
  readonly hash: string
}

/**
 * Ends each statement that changes a key. No transaction surrounds such a statement, so the setting applies only if the
 * statement itself evaluates it: in a column that nothing reads, once a row has changed.
 */
const RETURNING = `RETURNING hash, ${WAIT_FOR_DISK} AS durability`

/**
 * Times are passed as numbers: in an `UPDATE`, Citus does not accept a string as a time, because the meaning of such a
 * string depends on settings.
 */
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
    findSecurity: prepared<{ isActive: string }>(
      'find_security',
      'SELECT row_security_active($1::text)::text AS "isActive"',
    ),
    list: prepared<KeyRow>(
      'list_keys',
      `SELECT ${row} FROM ${keys} WHERE type = $1 AND owner_id = $2 ORDER BY created_at, hash`,
    ),
    add: prepared<Hash>(
      'add_key',
      `INSERT INTO ${keys} (hash, type, owner_id, scopes, label, hint, created_at, revoked_at, expires_at)
       VALUES ($1, $2, $3, $4::text[], $5, $6,
         coalesce(${toTime('$7::double precision')}, now()),
         ${toTime('$8::double precision')}, ${toTime('$9::double precision')})
       ON CONFLICT (hash) DO NOTHING ${RETURNING}`,
    ),
    revoke: prepared<Hash>(
      'revoke_key',
      `UPDATE ${keys} SET revoked_at = coalesce(revoked_at, ${toTime('$2::double precision')})
       WHERE hash = $1 ${RETURNING}`,
    ),
    update: prepared<Hash>(
      'update_key',
      `UPDATE ${keys} SET scopes = coalesce($2::text[], scopes),
         label = CASE WHEN $3::text::boolean THEN label ELSE $4::text END,
         expires_at = CASE WHEN $5::text::boolean THEN expires_at ELSE ${toTime('$6::double precision')} END
       WHERE hash = $1 ${RETURNING}`,
    ),
  }
}
