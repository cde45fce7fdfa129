import { requireOptions } from '../options.ts'
import { readBoolean, readInteger } from '../store/rows.ts'
import { createDeadline, type Deadline } from '../time/deadline.ts'
import { type Database, type Settings, unprepared } from './connection.ts'
import { type DriverOptions, driverRules, toDatabase } from './drivers.ts'
import { findEngine } from './engines.ts'
import { hasCode } from './failures.ts'
import {
  createSchema,
  type PostgresSchemaOptions,
  SCHEMA_VERSION,
  schemaRule,
  type Tables,
  toTables,
} from './schema.ts'
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
 * @throws {Error} if a later version of this package created the tables, if some of them have been dropped, or if the
 *   role may not create them; then the message contains the SQL that allows it.
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
    const { version, missing } = await findState(database, deadline, toTables(options))
    if (version > SCHEMA_VERSION) {
      throw new Error(`The tables have version ${version}; this package supports up to version ${SCHEMA_VERSION}`)
    }
    // A lost table is not recreated: with an empty table in its place, names could be registered twice.
    if (missing !== null) {
      throw new Error(`Tables have been dropped, or were not restored: ${missing}. Run "domain-registration doctor"`)
    }
    if (version === SCHEMA_VERSION) return
    const { isDistributed } = await findEngine(database, deadline)
    const timeouts = await database.send(deadline, findTimeouts)
    const settings: Settings = {
      transaction_isolation: 'read committed',
      ...Object.fromEntries(timeouts.map(({ name }) => [name, '0'])),
    }
    await database.transact(deadline, settings, async ({ send, write }) => {
      const [found] = await send(findSchema, schema)
      const statements = createSchema(options, isDistributed)
      // The role may own its schema, but may not create one: then even CREATE SCHEMA IF NOT EXISTS fails.
      if (found && readBoolean(found.exists)) statements.shift()
      for (const text of statements) await write(unprepared(text))
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

interface State {
  /** The version of the tables; 0 if they are missing. */
  readonly version: number
  /** The names of missing tables; `null` if no table is missing, or if no version is recorded. */
  readonly missing: string | null
}

async function findState(database: Database, deadline: Deadline, { schema: _, ...tables }: Tables): Promise<State> {
  const select = unprepared<{ version: string | null; missing: string | null }>(
    `SELECT max(version)::text AS version, (SELECT string_agg(name, ', ') FROM unnest($1::text[]) AS name
       WHERE to_regclass(name) IS NULL) AS missing FROM ${tables.version}`,
  )
  try {
    const [row] = await database.send(deadline, select, Object.values(tables))
    const version = row?.version == null ? 0 : readInteger(row.version)
    // If no version is recorded, the tables are created.
    return { version, missing: version === SCHEMA_VERSION ? (row?.missing ?? null) : null }
  } catch (error) {
    if (hasCode(error, absent)) return { version: 0, missing: null }
    throw error
  }
}

/**
 * Returns whether another process migrated at the same time. The error "tuple concurrently updated" has only the
 * general code XX000. Citus uses the same code for errors that are not races, but adds a hint that refers to the
 * coordinator.
 */
const isRace = (error: unknown) =>
  hasCode(error, races) || (hasCode(error, new Set(['XX000'])) && !(error as { hint?: unknown }).hint)
