import type { Deadline } from '../deadline.ts'
import type { Database, Settings } from './connection.ts'
import { prepare } from './prepare.ts'

/**
 * A setting of the transaction, with the value `now`. Inserts read their date from it, and so fail outside a
 * transaction.
 */
export const BEGUN_AT = 'domain_registration.begun_at'

/**
 * A connection plans a statement once, perhaps while the tables are empty, and keeps the plan when they have grown. So
 * each statement must have only one plan, good for tables of any size: look up each key in an index. Without these
 * kinds of scan the planner has no other choice, except a merge join over a whole index, which {@link isByKey} rules
 * out.
 */
const ONE_PLAN = { enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' }

/**
 * A join condition that an index can serve, and a merge join cannot. Other conditions on the key must depend on `asked`
 * too, or the planner could scan the index; IDs are compared with IS NOT DISTINCT FROM, which cannot be merged either.
 * Of a partitioned table only the partition of the key is read.
 */
export const isByKey = (table: string, asked: string) =>
  `${table}.registrable_domain = ANY (ARRAY[${asked}.registrable_domain])`

/** Matches a head row, whose path is empty. The empty text is computed from `asked`; see {@link isByKey}. */
export const isHeadOf = (table: string, asked: string) =>
  `${isByKey(table, asked)} AND ${table}.path = left(${asked}.registrable_domain, 0)`

const BY_ENGINE: Readonly<Record<Engine, Settings>> = {
  // Planning a statement takes longer than running it.
  PostgreSQL: { ...ONE_PLAN, plan_cache_mode: 'force_generic_plan' },
  /**
   * The first setting applies the others on the workers too. Generic plans cannot be distributed, so none are forced.
   * One connection to each worker lets calls lock rows in the same order through every node. Without the setting about
   * deadlock prevention, Citus would lock whole shards.
   */
  Citus: {
    'citus.propagate_set_commands': 'local',
    'citus.max_adaptive_executor_pool_size': '1',
    'citus.enable_deadlock_prevention': 'off',
    'citus.enable_local_execution': 'off',
    ...ONE_PLAN,
  },
  other: {},
}

export type Engine = 'PostgreSQL' | 'Citus' | 'other'

/** The settings of a transaction. The time limits end the locks of a process that freezes. */
export function toSettings(engine: Engine, milliseconds: number): Settings {
  const limit = String(Math.max(1, Math.round(milliseconds)))
  return {
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    [BEGUN_AT]: 'now',
    ...BY_ENGINE[engine],
  }
}

const selectEngine = prepare<{ version: string; citus: string | null }>(
  'engine',
  `SELECT version() AS version, current_setting('citus.version', true) AS citus`,
)

export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.ask(deadline, selectEngine)
  if (!row?.version.startsWith('PostgreSQL')) return 'other'
  return row.citus === null ? 'PostgreSQL' : 'Citus'
}
