import { readBoolean } from '../store/rows.ts'
import type { Deadline } from '../time/deadline.ts'
import { citus } from './citus.ts'
import { type Database, ours, prepared, type Settings, unprepared } from './connection.ts'
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

export const postgres: Engine = {
  isDistributed: false,
  // Prepared statements are planned once, because planning takes longer than running them.
  planning: { plan_cache_mode: 'force_generic_plan' },
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  secondLevelDomainOfBase: 'base.second_level_domain',
  isInShardOfBase: '',
  group: bases => (bases.length > 0 ? [bases] : []),
  // The `LIMIT` makes the planner begin with the other side, even if it considers the table to be empty.
  joinOne: (table, alias, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} AS ${alias} WHERE ${condition} LIMIT 1) AS ${alias}`,
  inShards: () => '',
  toShards: () => [],

  /**
   * Passes each column as an array. Without `onConflict`, the statement fails if one of your triggers skips a row,
   * because such a row must not be reported as saved.
   */
  createInsert({ name, into, columns, onConflict = '' }) {
    const list = Object.keys(columns).join(', ')
    const parts = Object.entries(columns)
    const [first, ...others] = parts.map(([, [type]], index) => `$${index + 2}::${type}[]`) as [string, ...string[]]
    const values = parts.map(([column, [, , toSql = String]]) => toSql(`asked.${column}`))
    const text = `INSERT INTO ${into} (${list})
       SELECT ${values.join(', ')} FROM unnest(${[ours(first), ...others].join(', ')}) AS asked (${list}) ${onConflict}`
    // If a row is missing, the cast fails, and PostgreSQL's message quotes the sentence.
    const complete = `WITH inserted AS (${text} RETURNING 1)
     SELECT CASE WHEN count(*) = cardinality(${first}) THEN 1
       ELSE ('A trigger skipped ' || cardinality(${first}) - count(*) ||
         ' of the rows, so nothing was saved')::integer
     END AS complete FROM inserted`
    const statement = prepared(name, onConflict === '' ? complete : text)
    return (token, rows) => [statement, token, ...parts.map(([, [, toValue]]) => rows.map(toValue))]
  },
}

export type Isolation = 'read committed' | 'repeatable read'

/**
 * The share of its time limit that a statement may wait for locks. A statement that waits longer fails with a lock
 * timeout.
 */
const LOCK_SHARE = 0.9

/**
 * Returns the settings of a transaction. The time limits release the locks of a process that freezes. If row-level
 * security would hide rows from a statement, `row_security = off` makes the statement fail. Otherwise, names in hidden
 * rows would be registered twice. With `array_nulls = off`, a NULL in an array would be the text 'NULL'.
 *
 * @param patience For how many milliseconds a statement may wait for a lock, if less than that share.
 */
export function toSettings(
  engine: Engine,
  milliseconds: number,
  isolation: Isolation,
  patience = milliseconds,
): Settings {
  const limit = toLimit(milliseconds)
  return {
    transaction_isolation: isolation,
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    lock_timeout: toLimit(Math.min(patience, milliseconds * LOCK_SHARE)),
    row_security: 'off',
    array_nulls: 'on',
    ...BY_INDEX,
    ...engine.planning,
  }
}

/** At least 1, because 0 would mean no limit. */
const toLimit = (milliseconds: number) => String(Math.max(1, Math.round(milliseconds)))

const selectEngine = unprepared<{ version: string; citus: string }>(
  `SELECT version() AS version, EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')::text AS citus`,
)

/** Matches only the versions of PostgreSQL itself: "PostgreSQL 11.2-YB-2.25", for example, is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

/** @param version The result of `SELECT version()`. */
export const isStockPostgres = (version: string): boolean => STOCK.test(version)

/**
 * @throws {Error} if the server only speaks PostgreSQL's protocol. There, a lock on a row may not make the next call
 *   see what was saved meanwhile, and overlapping names would be registered.
 */
export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.send(deadline, selectEngine)
  const version = String(row?.version)
  if (!isStockPostgres(version)) throw new Error(`The store needs PostgreSQL, but the server is "${version}"`)
  return readBoolean(row?.citus) ? citus : postgres
}
