import type { Settings } from '../drivers/database.ts'
import type { Engine } from './engine.ts'

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

export type Isolation = 'read committed' | 'repeatable read'

/**
 * The share of its time limit that a statement may wait for locks. A statement that waits longer fails with a lock
 * timeout.
 */
const LOCK_SHARE = 0.9

/**
 * Returns the settings of a transaction. If row-level security would hide rows from a statement, `row_security = off`
 * makes the statement fail. Otherwise, names in hidden rows would be registered twice. With `array_nulls = off`, a NULL
 * in an array would be the text 'NULL'.
 *
 * @param patience For how many milliseconds a statement may wait for a lock, if less than that share.
 */
export const toSettings = (
  engine: Engine,
  milliseconds: number,
  isolation: Isolation,
  patience = milliseconds,
): Settings => ({
  ...toLimits(milliseconds, isolation, patience),
  row_security: 'off',
  array_nulls: 'on',
  ...BY_INDEX,
  ...engine.planning,
})

/** Returns settings that release the locks of a process that freezes. */
export function toLimits(milliseconds: number, isolation: Isolation, patience = milliseconds): Settings {
  const limit = toLimit(milliseconds)
  return {
    transaction_isolation: isolation,
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    lock_timeout: toLimit(Math.min(patience, milliseconds * LOCK_SHARE)),
  }
}

/** At least 1, because 0 would mean no limit. */
const toLimit = (milliseconds: number) => String(Math.max(1, Math.round(milliseconds)))
