import { requireOptions } from '../options.ts'
import { readBoolean, readInteger } from '../sql/rows.ts'
import { readColumns, requireTables } from '../sql/tables.ts'
import { createDeadline } from '../time/deadline.ts'
import type { Settings, Transaction } from './drivers/database.ts'
import { type DriverOptions, driverRules, toDatabase } from './drivers/driver-options.ts'
import { hasCode } from './drivers/failures.ts'
import type { Engine } from './engines/engine.ts'
import { findEngine } from './engines/find-engine.ts'
import {
  createSchema,
  type PostgresSchemaOptions,
  SCHEMA_VERSION,
  schemaRule,
  type Tables,
  toCameWith,
  toTables,
} from './schema.ts'
import { toArrays, unprepared } from './statements/sql.ts'
import { retryConflicts } from './transaction.ts'

/** Options of {@link migrate}. */
export interface MigrateOptions extends PostgresSchemaOptions {
  database: DriverOptions['database']
  /** Milliseconds for the whole migration, including the wait for other migrating processes. Default 60,000. */
  timeLimit?: number | undefined
}

const DEFAULT_MIGRATION_TIME_LIMIT = 60_000

/** The SQLSTATEs of a missing schema and a missing table. */
export const absent = new Set(['3F000', '42P01'])

/**
 * The role's timeouts, which must not end the wait for another migrating process. Only some versions of PostgreSQL have
 * `transaction_timeout`.
 */
const findTimeouts = unprepared<{ name: string }>(`SELECT name FROM pg_settings
  WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout')`)

/** The SQLSTATEs with which simultaneous migrations fail, because `IF NOT EXISTS` does not see uncommitted objects. */
const races = new Set(['23505', '42P07', '42P06', '42710', '42P16', '40001', '40P01', '55P03'])

/**
 * Creates the tables if they are missing. Call it when your server starts; any number of processes may do so at once.
 * If the tables are up to date, `migrate` only reads, and needs no CREATE privilege.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 * @throws {Error} if a later version of this package created the tables, if some of them have been dropped or lack
 *   columns, or if the role may not create them; then the message contains the SQL that allows it.
 *
 * @example
 * await migrate({ database: pool })
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { preparedStatements: _, ...rules } = driverRules
  requireOptions(options, { ...rules, schema: schemaRule })
  const { database: driver, timeLimit = DEFAULT_MIGRATION_TIME_LIMIT } = options
  const database = toDatabase({ database: driver, preparedStatements: false }, 'tables')
  const deadline = createDeadline(timeLimit)
  const { schema } = toTables(options)
  async function create(): Promise<void> {
    const engine = await findEngine(database, deadline)
    const version = await checkTables((...statement) => database.send(deadline, ...statement), options, engine)
    if (version === SCHEMA_VERSION) return
    const timeouts = await database.send(deadline, findTimeouts)
    const settings: Settings = {
      transaction_isolation: 'read committed',
      ...Object.fromEntries(timeouts.map(({ name }) => [name, '0'])),
    }
    await database.transact(deadline, settings, async ({ send, write }) => {
      const [found] = await send(findSchema, schema)
      const statements = createSchema(options, engine)
      // The role may own its schema, but may not create one: then even CREATE SCHEMA IF NOT EXISTS fails.
      if (found && readBoolean(found.exists)) statements.shift()
      for (const text of statements) await write(unprepared(text))
      await checkTables(send, options, engine)
    })
  }
  try {
    await retryConflicts(deadline, create, isRace)
  } catch (cause) {
    if (!hasCode(cause, denied)) throw cause
    const [remedy] = await database.send(deadline, findRemedy, schema).catch(() => [])
    if (!remedy) throw cause
    throw new Error(`Until an administrator runs ${remedy.sql}, this role may not create the tables`, { cause })
  }
}

/** The SQLSTATE insufficient_privilege. */
export const denied = new Set(['42501'])

/**
 * Finds what would give the role the right to create the tables. Finds nothing if the role has this right, or if the
 * tables exist: then `doctor` prints the grants.
 */
const findRemedy = unprepared<{ sql: string }>(
  `SELECT 'CREATE SCHEMA ' || $1::text || ' AUTHORIZATION ' || quote_ident(current_user) AS sql
     WHERE to_regnamespace($1::text) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
   UNION ALL
   SELECT 'GRANT USAGE, CREATE ON SCHEMA ' || $1::text || ' TO ' || quote_ident(current_user)
     FROM to_regnamespace($1::text) AS place
     WHERE NOT (has_schema_privilege(place, 'USAGE') AND has_schema_privilege(place, 'CREATE'))
       AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = place AND relname = 'version')`,
)

const findSchema = unprepared<{ exists: string }>(`SELECT (to_regnamespace($1) IS NOT NULL)::text AS exists`)

/** Returns the version of the tables; 0 if they are missing, or if no version is recorded. */
async function checkTables(send: Transaction['send'], options: PostgresSchemaOptions, engine: Engine): Promise<number> {
  const version = await findVersion(send, toTables(options))
  const elsewhere = engine.onOneServer(toTables(options))
  const created = readColumns(createSchema(options, engine).join('\n'), toCameWith(options))
  const needed = created.filter(({ table }) => !elsewhere.includes(table))
  const missing = await send(findMissing, ...toArrays(needed, 'table', 'column'))
  const isMissing = new Set(missing.map(row => readInteger(row.position)))
  requireTables(
    { version, current: SCHEMA_VERSION },
    needed,
    needed.filter((_, index) => isMissing.has(index + 1)),
  )
  return version
}

/** Finds which of the needed columns do not exist. */
const findMissing = unprepared<{ position: string }>(
  `SELECT position::text AS position
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS needed (place, name, position)
   WHERE NOT EXISTS (
     SELECT FROM pg_attribute WHERE attrelid = to_regclass(place) AND attname = name AND NOT attisdropped
   )`,
)

async function findVersion(send: Transaction['send'], { version }: Tables): Promise<number> {
  try {
    const [row] = await send(
      unprepared<{ version: string | null }>(`SELECT max(version)::text AS version FROM ${version}`),
    )
    return row?.version == null ? 0 : readInteger(row.version)
  } catch (error) {
    if (hasCode(error, absent)) return 0
    throw error
  }
}

/**
 * Returns whether another process migrated at the same time. The error "tuple concurrently updated" has only the
 * general code XX000. A distributed engine uses the same code for errors that are not races, but adds a hint.
 */
const isRace = (error: unknown) =>
  hasCode(error, races) || (hasCode(error, new Set(['XX000'])) && !(error as { hint?: unknown }).hint)
