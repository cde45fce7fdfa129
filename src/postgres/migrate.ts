import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { type DriverOptions, toDatabase, type Work } from './connection.ts'
import { hasCode, retryConflicts } from './retry.ts'
import { createSchema, type PostgresTableOptions, SCHEMA_VERSION, toTables } from './schema.ts'
import { prepare } from './statements.ts'

export interface MigrateOptions extends PostgresTableOptions {
  pool: DriverOptions['pool']
  /** Milliseconds for all of it, waiting for others who do the same included. Default 60,000. */
  timeLimit?: number | undefined
}

const DEFAULT_TIME_LIMIT = 60_000

/** The schema or its table of versions is not there. */
const absent = new Set(['3F000', '42P01'])

/** `IF NOT EXISTS` does not look at what others are about to make, so that two who start at once get in each other's way. */
const races = new Set(['23505', '42P07', '42P06', '42710', '40001', '40P01', 'XX000'])

/**
 * Makes the tables, if they are not there: for the start of a server. Any number of processes may start at once. Where the
 * tables are up to date it only reads, and needs no right to make anything.
 *
 * @throws {Error} if the tables are of a later version of this package.
 *
 * @example
 * await migrate({ pool })
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { timeLimit = DEFAULT_TIME_LIMIT } = options
  const database = toDatabase({ pool: options.pool, preparedStatements: false })
  const deadline = createDeadline(requireTimeLimit('timeLimit', timeLimit))
  const { version: table } = toTables(options)
  const selectVersion = prepare<{ version: number | null }>('version', `SELECT max(version) AS version FROM ${table}`)

  async function findVersion(): Promise<number> {
    try {
      const [row] = await database.ask(deadline, selectVersion)
      return row?.version ?? 0
    } catch (error) {
      if (hasCode(error, absent)) return 0
      throw error
    }
  }

  await retryConflicts(
    deadline,
    async () => {
      const version = await findVersion()
      if (version > SCHEMA_VERSION) {
        throw new Error(`The tables are of version ${version}, and this package knows ${SCHEMA_VERSION}`)
      }
      if (version < SCHEMA_VERSION) await database.transact(deadline, {}, makeTables(options))
    },
    error => hasCode(error, races),
  )
}

const makeTables = (options: PostgresTableOptions): Work<void, void> => ({
  find: async () => {},
  save(_, send) {
    for (const text of createSchema(options)) void send({ name: '', text })
  },
})
