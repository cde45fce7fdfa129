import type { Deadline } from '../deadline.ts'
import type { Database, Settings } from './connection.ts'
import { unprepared } from './prepare.ts'

/**
 * Leads the planner from the parameters to an index, since the statistics of a table that grows are old. A statement
 * that a connection keeps is planned once, because planning it takes longer than running it.
 */
const BY_INDEX: Settings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  enable_material: 'off',
  jit: 'off',
}

/** PostgreSQL itself, or another engine that speaks its protocol and may have no more than snapshot isolation. */
export type Engine = 'PostgreSQL' | 'other'

export type Isolation = 'read committed' | 'repeatable read'

/**
 * The settings of a transaction. The time limits end the locks of a process that freezes. A row-level security that
 * hides rows is refused by the server, since names that are not seen would be registered twice.
 */
export function toSettings(engine: Engine, milliseconds: number, isolation: Isolation): Settings {
  const limit = String(Math.max(1, Math.round(milliseconds)))
  return {
    transaction_isolation: isolation,
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    lock_timeout: '0',
    row_security: 'off',
    ...(engine === 'PostgreSQL' && BY_INDEX),
  }
}

const selectVersion = unprepared<{ version: string }>('SELECT version() AS version')

/** "PostgreSQL 11.2-YB-2.25" is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

/** @param version What the server answers to `SELECT version()`. */
export const isStockPostgres = (version: string): boolean => STOCK.test(version)

export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.ask(deadline, selectVersion)
  return row && isStockPostgres(row.version) ? 'PostgreSQL' : 'other'
}
