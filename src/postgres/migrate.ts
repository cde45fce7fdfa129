import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { type Database, type DriverOptions, type Settings, toDatabase } from './connection.ts'
import { prepare } from './prepare.ts'
import { hasCode, retryConflicts } from './retry.ts'
import { createSchema, type PostgresSchemaOptions, SCHEMA_VERSION, type Tables, toTables } from './schema.ts'

/** Options of {@link migrate}. */
export interface MigrateOptions extends PostgresSchemaOptions {
  database: DriverOptions['database']
  /**
   * Distributes the tables over the workers of Citus: names by their last two labels, in this many shards; keys as a
   * reference table. See docs/citus.md. Pass it on every start: distributed tables stay as they are.
   */
  citus?: { readonly shards: number } | undefined
  /** Milliseconds for the whole migration, including the wait for other processes that migrate. Default 60,000. */
  timeLimit?: number | undefined
}

const DEFAULT_TIME_LIMIT = 60_000

/** The SQLSTATEs of a missing schema and a missing table. */
const absent = new Set(['3F000', '42P01'])

/** No `lock_timeout` of a role may end the wait for another process that migrates. */
const PATIENT: Settings = { lock_timeout: '0' }

/** Makes Citus use one connection to each worker, so that each command sees the changes of those before it. */
const ONE_BY_ONE: Settings = { ...PATIENT, 'citus.multi_shard_modify_mode': 'sequential' }

/** The SQLSTATEs of two migrations at once: `IF NOT EXISTS` does not see what others have yet to commit. */
const races = new Set(['23505', '42P07', '42P06', '42710', '42P16', '40001', '40P01', '55P03', 'XX000'])

/**
 * Creates the tables if they are missing. Call it when your server starts; any number of processes may do so at once.
 * If the tables are up to date it only reads, and needs no right to create anything.
 *
 * @throws {Error} if the tables are of a later version of this package.
 * @throws {RangeError} if the number of shards is no integer from 1.
 *
 * @example
 * await migrate({ database })
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { database: driver, timeLimit = DEFAULT_TIME_LIMIT, citus } = options
  if (citus) requireShards(citus.shards)
  const database = toDatabase({ database: driver, preparedStatements: false })
  const deadline = createDeadline(requireTimeLimit('timeLimit', timeLimit))
  const tables = toTables(options)
  const run = (commands: readonly string[], settings: Settings) => runInOrder(database, deadline, settings, commands)

  async function findVersion(): Promise<number> {
    try {
      const [row] = await database.ask(deadline, selectVersion(tables))
      return row?.version ?? 0
    } catch (error) {
      if (hasCode(error, absent)) return 0
      throw error
    }
  }

  async function areSpread(): Promise<boolean> {
    try {
      const [row] = await database.ask(deadline, countSpread(tables))
      return row?.count === SPREAD
    } catch (cause) {
      if (!hasCode(cause, absent)) throw cause
      throw new Error('The option "citus" is for databases with the extension citus, which this one has not', { cause })
    }
  }

  await retryConflicts(
    deadline,
    async () => {
      const version = await findVersion()
      if (version > SCHEMA_VERSION) {
        throw new Error(`The tables are of version ${version}, and this package knows ${SCHEMA_VERSION}`)
      }
      if (version < SCHEMA_VERSION) await run(createSchema(options, citus !== undefined), PATIENT)
      if (citus && !(await areSpread())) await run(spread(tables, citus.shards), ONE_BY_ONE)
    },
    error => hasCode(error, races),
  )
}

async function runInOrder(
  database: Database,
  deadline: Parameters<Database['transact']>[0],
  settings: Settings,
  commands: readonly string[],
): Promise<void> {
  await database.transact(deadline, { transaction_isolation: 'read committed', ...settings }, async ({ change }) => {
    for (const text of commands) await change({ name: '', text })
  })
}

const selectVersion = ({ version }: Tables) =>
  prepare<{ version: number | null }>('version', `SELECT max(version) AS version FROM ${version}`)

function requireShards(shards: unknown): void {
  if (!Number.isSafeInteger(shards) || (shards as number) < 1)
    throw new RangeError(`The option "citus.shards" must be an integer from 1; it is ${String(shards)}`)
}

/** The number of tables to distribute. */
const SPREAD = 5

const countSpread = ({ names, changes, locks, keys, version }: Tables) => {
  const tables = [names, changes, locks, keys, version].map(table => `${quoteLiteral(table)}::regclass`)
  return prepare<{ count: number }>(
    'count_spread',
    `SELECT count(*)::integer AS count FROM pg_dist_partition WHERE logicalrelid IN (${tables.join(', ')})`,
  )
}

function spread(tables: Tables, shards: number): string[] {
  const [names, ...others] = [tables.names, tables.changes, tables.locks].map(quoteLiteral) as [string, ...string[]]
  const unlessSpread = (table: string) =>
    `WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ${table}::regclass)`
  return [
    `SELECT create_distributed_table(${names}, 'second_level_domain', shard_count => ${shards}, colocate_with => 'none')
     ${unlessSpread(names)}`,
    ...others.map(
      table =>
        `SELECT create_distributed_table(${table}, 'second_level_domain', colocate_with => ${names}) ${unlessSpread(table)}`,
    ),
    ...[tables.keys, tables.version]
      .map(quoteLiteral)
      .map(table => `SELECT create_reference_table(${table}) ${unlessSpread(table)}`),
  ]
}

/** An escape string (PostgreSQL documentation, section 4.1.2.2), which no setting changes the meaning of. */
const quoteLiteral = (text: string) => `E'${text.replace(/['\\]/g, '\\$&')}'`
