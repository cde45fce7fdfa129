import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { type DriverOptions, toDatabase, type Work } from './connection.ts'
import { prepare } from './prepare.ts'
import { hasCode, retryConflicts } from './retry.ts'
import { createSchema, type PostgresTableOptions, SCHEMA_VERSION, type Tables, toTables } from './schema.ts'

/** Options of {@link migrate}. */
export interface MigrateOptions extends PostgresTableOptions {
  pool: DriverOptions['pool']
  /**
   * Distributes the tables over the workers of Citus: names by registrable domain, in this many shards; keys as a
   * reference table. One or two shards for each worker are fastest; see docs/postgres.md. Pass it on every start:
   * distributed tables stay as they are.
   */
  citus?: { readonly shards: number } | undefined
  /** Milliseconds for the whole migration, including the wait for other processes that migrate. Default 60,000. */
  timeLimit?: number | undefined
}

const DEFAULT_TIME_LIMIT = 60_000

/** The SQLSTATEs of a missing schema and a missing table. */
const absent = new Set(['3F000', '42P01'])

/** Makes Citus use one connection to each worker, so that each command sees the changes of those before it. */
const ONE_BY_ONE = { 'citus.multi_shard_modify_mode': 'sequential' }

/** The SQLSTATEs of two migrations at once: `IF NOT EXISTS` does not see what others have yet to commit. */
const races = new Set(['23505', '42P07', '42P06', '42710', '40001', '40P01', 'XX000'])

/**
 * Creates the tables if they are missing. Call it when your server starts; any number of processes may do so at once.
 * If the tables are up to date it only reads, and needs no right to create anything.
 *
 * @throws {Error} if the tables are of a later version of this package.
 * @throws {RangeError} if the number of shards is no integer from 1.
 *
 * @example
 * await migrate({ pool })
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { pool, timeLimit = DEFAULT_TIME_LIMIT, citus } = options
  if (citus) requireShards(citus.shards)
  const database = toDatabase({ pool, preparedStatements: false })
  const deadline = createDeadline(requireTimeLimit('timeLimit', timeLimit))
  const tables = toTables(options)

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
      if (version < SCHEMA_VERSION) await database.transact(deadline, {}, inOrder(createSchema(options)))
      if (citus && !(await areSpread())) {
        await database.transact(deadline, ONE_BY_ONE, inOrder(spread(tables, citus.shards)))
      }
    },
    error => hasCode(error, races),
  )
}

const selectVersion = ({ version }: Tables) =>
  prepare<{ version: number | null }>('version', `SELECT max(version) AS version FROM ${version}`)

const inOrder = (commands: readonly string[]): Work<void, void> => ({
  find: async () => {},
  save(_, send) {
    for (const text of commands) void send({ name: '', text })
  },
})

function requireShards(shards: unknown): void {
  if (!Number.isSafeInteger(shards) || (shards as number) < 1)
    throw new RangeError(`The option "citus.shards" must be an integer from 1; it is ${String(shards)}`)
}

/** The number of tables to distribute. */
const SPREAD = 4

const countSpread = (tables: Tables) =>
  prepare<{ count: number }>('count_spread', `SELECT count(*)::integer AS count FROM pg_dist_partition ${of(tables)}`)

function of({ names, releases, keys, version }: Tables): string {
  const tables = [names, releases, keys, version].map(table => `${quoteLiteral(table)}::regclass`)
  return `WHERE logicalrelid IN (${tables.join(', ')})`
}

function spread(tables: Tables, shards: number): string[] {
  const [names, releases] = [tables.names, tables.releases].map(quoteLiteral) as [string, string]
  const unlessSpread = (table: string) =>
    `WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ${table}::regclass)`
  return [
    `SELECT create_distributed_table(${names}, 'registrable_domain', shard_count => ${shards}, colocate_with => 'none')
     ${unlessSpread(names)}`,
    `SELECT create_distributed_table(${releases}, 'registrable_domain', colocate_with => ${names})
     ${unlessSpread(releases)}`,
    ...[tables.keys, tables.version]
      .map(quoteLiteral)
      .map(table => `SELECT create_reference_table(${table}) ${unlessSpread(table)}`),
  ]
}

/** An escape string (PostgreSQL documentation, section 4.1.2.2), which no setting changes the meaning of. */
const quoteLiteral = (text: string) => `E'${text.replace(/['\\]/g, '\\$&')}'`
