import { requireChanges, requireHash, requireOwner, requireRecord, type StoredKeyRecord } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { requireOptions } from '../options.ts'
import { toStoredRecord, writeOptionalTime } from '../sql/rows.ts'
import { createDeadline } from '../time/deadline.ts'
import {
  DEFAULT_TRANSACTION_TIME_LIMIT,
  type DriverOptions,
  driverRules,
  toDatabase,
} from './drivers/driver-options.ts'
import { toLimits } from './engines/settings.ts'
import { type PostgresSchemaOptions, schemaRule, toTables } from './schema.ts'
import { createKeyStatements, type Hash } from './statements/keys.ts'
import type { Statement, Value } from './statements/sql.ts'

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
  function begin(): { readonly send: Send; readonly write: Send } {
    const deadline = createDeadline(timeLimit)
    const send: Send = (statement, ...values) => database.send(deadline, statement, ...values)
    if (database.isInTransaction) return { send, write: send }
    const write: Send = (statement, ...values) =>
      database.transact(deadline, toLimits(deadline.remaining(), 'read committed'), transaction =>
        transaction.write(statement, ...values),
      )
    return { send, write }
  }

  async function findRecord(send: Send, hash: string): Promise<StoredKeyRecord | null> {
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
    const { send, write } = begin()
    if ((await write(statement, hash, ...values)).length > 0) return true
    if ((await findRecord(send, hash)) === null) return false
    throw new Error('A trigger or a policy prevented the change of an API key')
  }

  return {
    findKey: async hash => findRecord(begin().send, hash),

    async addKey(record) {
      requireRecord(record)
      const { hash, type, ownerId, scopes, label = null, hint = null } = record
      const dates = [record.createdAt, record.revokedAt, record.expiresAt].map(writeOptionalTime)
      const { send, write } = begin()
      if ((await write(statements.add, hash, type, ownerId, scopes, label, hint, ...dates)).length > 0) return true
      if ((await findRecord(send, hash)) === null)
        throw new Error('A trigger skipped a row, so the API key was not added')
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
      const { send } = begin()
      await requireVisible(send)
      return (await send(statements.list, owner.type, owner.ownerId)).map(toStoredRecord)
    },
  }
}

/** Sends a statement of a call. `write` resolves once the change is committed, except in your own transaction. */
type Send = <Row>(statement: Statement<Row>, ...values: readonly Value[]) => Promise<readonly Row[]>
