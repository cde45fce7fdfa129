import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { type DriverOptions, toDatabase, type Work } from './connection.ts'
import { prepare } from './prepare.ts'
import { hasCode, retryConflicts } from './retry.ts'
import { createSchema, type PostgresTableOptions, SCHEMA_VERSION, type Tables, toTables } from './schema.ts'

/** What {@link migrate} takes. */
export interface MigrateOptions extends PostgresTableOptions {
  pool: DriverOptions['pool']
  /**
   * Spreads the tables over the workers of Citus: registrable domains in so many shards, keys to all. One or two
   * shards a worker answer fastest; see docs/postgres.md. Pass it on every start: tables that are spread already stay
   * as they are.
   */
  citus?: { readonly shards: number } | undefined
  /** Milliseconds for all of it, waiting for others who do the same included. Default 60,000. */
  timeLimit?: number | undefined
}

const DEFAULT_TIME_LIMIT = 60_000

/** The schema or its table of versions is not there. */
const absent = new Set(['3F000', '42P01'])

/** Citus does on one connection to each worker what follows on what the same transaction has done. */
const ONE_BY_ONE = { 'citus.multi_shard_modify_mode': 'sequential' }

/**
 * `IF NOT EXISTS` does not look at what others are about to make, so that two who start at once get in each other's
 * way.
 */
const races = new Set(['23505', '42P07', '42P06', '42710', '40001', '40P01', 'XX000'])

/**
 * Makes the tables, if they are not there: for the start of a server. Any number of processes may start at once. Where
 * the tables are up to date it only reads, and needs no right to make anything.
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

/** How many tables there are to spread. */
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

/** PostgreSQL documentation, section 4.1.2.2: as it is read whatever `standard_conforming_strings` says. */
const quoteLiteral = (text: string) => `E'${text.replace(/['\\]/g, '\\$&')}'`
