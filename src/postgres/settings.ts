import type { Deadline } from '../deadline.ts'
import type { Database, Settings } from './connection.ts'
import { prepare } from './prepare.ts'

/**
 * A setting of the transaction, `now`: what is saved reads it for its date, and fails where no transaction has begun.
 */
export const BEGUN_AT = 'domain_registration.begun_at'

/**
 * Plans are made once on a connection, perhaps while the tables are empty, and kept when they have grown: so there
 * must be one plan for each statement, whatever the tables hold, which goes from what is asked to an index, key by
 * key. Without these ways to scan there is no other, but to walk an index whole for a merge join: see {@link isByKey}.
 */
const ONE_PLAN = { enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' }

/**
 * A join that an index can serve, and that cannot be merged. What else is asked of the key must depend on `asked` as
 * well, or it would do to walk the index; an ID is compared by IS NOT DISTINCT FROM, which cannot be merged either. In
 * a table of partitions only that of the key is looked at.
 */
export const isByKey = (table: string, asked: string) =>
  `${table}.registrable_domain = ANY (ARRAY[${asked}.registrable_domain])`

/** The path of a head row is empty: so is what is left of any text without all of its characters. */
export const isHeadOf = (table: string, asked: string) =>
  `${isByKey(table, asked)} AND ${table}.path = left(${asked}.registrable_domain, 0)`

const BY_ENGINE: Readonly<Record<Engine, Settings>> = {
  // To plan a statement anew takes longer than to run it.
  PostgreSQL: { ...ONE_PLAN, plan_cache_mode: 'force_generic_plan' },
  /**
   * The first makes the workers plan by these settings as well. Generic plans cannot be distributed. Calls take their
   * locks in the same order through every node, on one connection to each worker; without the last but one whole
   * shards are locked.
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

/** The settings of a transaction. The limits are so that nobody who freezes keeps others from what he has locked. */
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
