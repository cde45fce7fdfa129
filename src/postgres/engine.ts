import type { Deadline } from '../time/deadline.ts'
import type { Database, Settings } from './database.ts'
import { unprepared } from './statement.ts'

/**
 * Makes the planner use indexes. By default, the planner relies on statistics, which are outdated while a table grows.
 */
const BY_INDEX: Settings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  enable_material: 'off',
  jit: 'off',
}

/**
 * With these settings, calls through different nodes take their locks in the same order. Each call uses a single
 * connection to each worker.
 */
const BY_ONE_CONNECTION: Settings = {
  'citus.enable_local_execution': 'off',
  'citus.enable_deadlock_prevention': 'off',
  'citus.max_adaptive_executor_pool_size': '1',
  'citus.multi_shard_modify_mode': 'sequential',
}

/**
 * Makes the settings after this one apply on the workers too. For each such setting, Citus sends the whole SQL to the
 * workers again, so only `plan_cache_mode` comes after this one.
 */
const ON_WORKERS_TOO: Settings = { 'citus.propagate_set_commands': 'local' }

/** The settings for each engine. */
const PLANNING = {
  /** Prepared statements are planned once, because planning takes longer than running them. */
  PostgreSQL: { plan_cache_mode: 'force_generic_plan', ...BY_INDEX },
  /** PostgreSQL with the Citus extension. Citus needs the values of parameters to find the right shards. */
  Citus: { ...BY_ONE_CONNECTION, ...BY_INDEX, ...ON_WORKERS_TOO, plan_cache_mode: 'force_custom_plan' },
  /** Any other engine with the same protocol. Some of these engines have only snapshot isolation. */
  other: {},
} satisfies Record<string, Settings>

export type Engine = keyof typeof PLANNING

/**
 * A condition that makes Citus search only the shards of the second-level domains in an array parameter; empty for
 * other engines. No index has the collation POSIX, so the planner scans no index for this condition. The default
 * collation would not work, because Citus does not send it to its workers.
 */
export const inShards = (engine: Engine, table: string, parameter: string): string =>
  engine === 'Citus' ? `AND ${table}.second_level_domain = ANY (${parameter}::text[] COLLATE "POSIX")` : ''

export type Isolation = 'read committed' | 'repeatable read'

/**
 * The share of its time limit that a statement may wait for locks. A statement that waits longer fails with a lock
 * timeout.
 */
const LOCK_SHARE = 0.9

/**
 * Returns the settings of a transaction. The time limits release the locks of a process that freezes. If row-level
 * security would hide rows from a statement, `row_security = off` makes the statement fail. Otherwise, names in hidden
 * rows would be registered twice.
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

/** At least 1, because 0 would mean no limit. */
const toLimit = (milliseconds: number) => String(Math.max(1, Math.round(milliseconds)))

const selectEngine = unprepared<{ version: string; citus: boolean }>(
  "SELECT version() AS version, EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS citus",
)

/** Matches only the versions of PostgreSQL itself: "PostgreSQL 11.2-YB-2.25", for example, is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

/** @param version The result of `SELECT version()`. */
export const isStockPostgres = (version: string): boolean => STOCK.test(version)

export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.ask(deadline, selectEngine)
  if (!row || !isStockPostgres(row.version)) return 'other'
  return row.citus ? 'Citus' : 'PostgreSQL'
}
