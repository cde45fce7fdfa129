import type { Deadline } from '../deadline.ts'
import type { Database, Settings } from './connection.ts'
import { prepare } from './prepare.ts'

/**
 * A connection plans a statement once, perhaps while the tables are empty, and keeps the plan when they have grown. So
 * each statement must have only one plan, good for tables of any size: go from the parameters to an index. Without these
 * kinds of scan and join the planner has no other choice.
 */
const ONE_PLAN = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  enable_material: 'off',
  jit: 'off',
}

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

export type Isolation = 'read committed' | 'repeatable read'

/**
 * The settings of a transaction. The time limits end the locks of a process that freezes. A row-level security that hides
 * rows is refused by the server, since names that are not seen would be registered twice.
 */
export function toSettings(engine: Engine, milliseconds: number, isolation: Isolation): Settings {
  const limit = String(Math.max(1, Math.round(milliseconds)))
  return {
    transaction_isolation: isolation,
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    lock_timeout: '0',
    row_security: 'off',
    ...BY_ENGINE[engine],
  }
}

const selectEngine = prepare<{ version: string; citus: string | null }>(
  'engine',
  `SELECT version() AS version, current_setting('citus.version', true) AS citus`,
)

/** PostgreSQL itself, and not what only speaks like it: "PostgreSQL 11.2-YB-2.25" is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.ask(deadline, selectEngine)
  if (!row || !STOCK.test(row.version)) return 'other'
  return row.citus === null ? 'PostgreSQL' : 'Citus'
}
