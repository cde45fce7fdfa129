import type { Deadline } from '../time/deadline.ts'
import type { Database, Settings } from './database.ts'
import { unprepared } from './statement.ts'

/** Leads the planner from the parameters to an index, since the statistics of a table that grows are old. */
const BY_INDEX: Settings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  enable_material: 'off',
  jit: 'off',
}

/** So that calls through different nodes lock in one order, each over one connection to a worker. */
const BY_ONE_CONNECTION: Settings = {
  'citus.enable_local_execution': 'off',
  'citus.enable_deadlock_prevention': 'off',
  'citus.max_adaptive_executor_pool_size': '1',
  'citus.multi_shard_modify_mode': 'sequential',
}

/**
 * Makes settings hold on the workers too: for each setting that comes after it, Citus sends them the whole text again.
 * So exactly one comes after it.
 */
const ON_WORKERS_TOO: Settings = { 'citus.propagate_set_commands': 'local' }

/** The settings for each engine. */
const PLANNING = {
  /** A statement that a connection keeps is planned once, because planning it takes longer than running it. */
  PostgreSQL: { plan_cache_mode: 'force_generic_plan', ...BY_INDEX },
  /** PostgreSQL with the extension: it needs the values of parameters to find their shards. */
  Citus: { ...BY_ONE_CONNECTION, ...BY_INDEX, ...ON_WORKERS_TOO, plan_cache_mode: 'force_custom_plan' },
  /** What else speaks the protocol, and may have no more than snapshot isolation. */
  other: {},
} satisfies Record<string, Settings>

export type Engine = keyof typeof PLANNING

/**
 * A condition that leads Citus to the shards of the second-level domains in an array parameter; nothing elsewhere. No
 * index has its collation, so none is walked for it; Citus would not send the default one to its workers.
 */
export const inShards = (engine: Engine, table: string, parameter: string): string =>
  engine === 'Citus' ? `AND ${table}.second_level_domain = ANY (${parameter}::text[] COLLATE "POSIX")` : ''

export type Isolation = 'read committed' | 'repeatable read'

/** Of the time of a statement, so that one that waits for a lock fails with an error that says so. */
const LOCK_SHARE = 0.9

/**
 * The settings of a transaction. The time limits end the locks of a process that freezes. A row-level security that
 * hides rows is refused by the server, since names that are not seen would be registered twice.
 */
export function toSettings(engine: Engine, milliseconds: number, isolation: Isolation): Settings {
  const limit = toLimit(milliseconds)
  return {
    transaction_isolation: isolation,
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    lock_timeout: toLimit(milliseconds * LOCK_SHARE),
    row_security: 'off',
    ...PLANNING[engine],
  }
}

/** Zero would be no limit. */
const toLimit = (milliseconds: number) => String(Math.max(1, Math.round(milliseconds)))

const selectEngine = unprepared<{ version: string; citus: boolean }>(
  "SELECT version() AS version, EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS citus",
)

/** "PostgreSQL 11.2-YB-2.25" is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

/** @param version What the server answers to `SELECT version()`. */
export const isStockPostgres = (version: string): boolean => STOCK.test(version)

export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.ask(deadline, selectEngine)
  if (!row || !isStockPostgres(row.version)) return 'other'
  return row.citus ? 'Citus' : 'PostgreSQL'
}
