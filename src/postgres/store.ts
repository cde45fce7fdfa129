import { requireOptions } from '../options.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  managedStoreRules,
} from '../registry/managed-store.ts'
import { DEFAULT_TRANSACTION_TIME_LIMIT, type DriverOptions, driverRules, toDatabase } from './driver.ts'
import { createOutbox } from './outbox.ts'
import { createRegistrations } from './registrations.ts'
import { type PostgresSchemaOptions, schemaRule, toTables } from './schema.ts'
import { createTransact } from './transact.ts'

/** Options of {@link createPostgresStore}. */
export interface PostgresStoreOptions extends PostgresSchemaOptions, DriverOptions, ManagedStoreOptions {
  /**
   * Milliseconds for each transaction, including waits for a connection and for locks, and retries after conflicts.
   * Default 10,000.
   */
  timeLimit?: number | undefined
}

/** A store in PostgreSQL. */
export type PostgresStore = ManagedStore

/**
 * Creates a store in PostgreSQL (tested on 15 and 18) or PGlite, for any number of processes that share one database.
 * Create the tables first; see {@link migrate}.
 *
 * A call is one transaction in READ COMMITTED. Each call locks the registrable domains of its names, so calls without a
 * common registrable domain do not wait for each other. After a conflict with another transaction, the call is retried,
 * until {@link PostgresStoreOptions.timeLimit} is reached.
 *
 * See docs/postgres-drivers.md for drivers and poolers, and docs/postgres-transaction.md for a call in your own
 * transaction.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const database = new pg.Pool({ connectionString, pipeline: true })
 * await migrate({ database })
 * const store = createPostgresStore({ database, findTeam: id => myTeams.find(id) })
 */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  requireOptions(options, { ...managedStoreRules, ...driverRules, schema: schemaRule })
  const { schema, database: driver, preparedStatements, timeLimit = DEFAULT_TRANSACTION_TIME_LIMIT, ...rest } = options
  const database = toDatabase({ database: driver, preparedStatements })
  const transact = createTransact(database, toTables({ schema }), timeLimit)
  const { isInTransaction } = database
  return createManagedStore({ ...createRegistrations(transact), outbox: createOutbox(transact), isInTransaction }, rest)
}
