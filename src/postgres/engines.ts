import { toKey } from '../store/name-key.ts'
import { readBoolean } from '../store/rows.ts'
import type { Deadline } from '../time/deadline.ts'
import {
  type Database,
  type Element,
  ours,
  prepared,
  type Settings,
  type Statement,
  type Transaction,
  unprepared,
  type Value,
} from './connection.ts'

/**
 * What differs between PostgreSQL and Citus, an extension of PostgreSQL that distributes the tables over several
 * servers by their second-level domains.
 */
export interface Engine {
  readonly isDistributed: boolean
  /** Settings of the planner, for each transaction. */
  readonly planning: Settings
  /**
   * Skips locked rows, so a sweep never waits for an application's transaction. On Citus, rows of several shards cannot
   * be locked in one query, so there it is empty: sweeps take turns instead, and wait for locks.
   */
  readonly skipLocked: '' | 'FOR UPDATE SKIP LOCKED'
  /** SQL of the second-level domain of a base, in a statement that looks below bases. */
  readonly secondLevelDomainOfBase: string
  /** A condition that limits the names below a base to the shard of the base. */
  readonly isInShardOfBase: string
  /** Groups the bases that one statement looks below. */
  group<Base>(bases: readonly Base[]): (readonly Base[])[]
  /** Joins a table, of which at most one row matches the condition, under the name `alias`. */
  joinOne(table: string, alias: string, condition: string): string
  /** A condition that limits a statement to the shards of the second-level domains in an array parameter. */
  inShards(table: string, parameter: string): string
  /** The value of this parameter, for rows with the given domains: the last values of the statement. */
  toShards(domains: readonly string[]): readonly Value[]
  createInsert<Row>(insertion: Insertion<Row>): Insert<Row>
}

/** Creates a statement that inserts rows, and the parameters of the statement. A lock has no token. */
type Insert<Row> = (token: Transaction['token'], rows: readonly Row[]) => readonly [Statement, ...Value[]]

/** An `INSERT` of many rows. */
interface Insertion<Row> {
  readonly name: string
  /** The table, perhaps with an alias. */
  readonly into: string
  /** For each column: the type of its parameter, the value of a row, and the SQL of the column if not the parameter. */
  readonly columns: Readonly<
    Record<string, readonly [type: string, toValue: (row: Row) => Element, toSql?: (parameter: string) => string]>
  >
  readonly onConflict?: string
}

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
  planning: { plan_cache_mode: 'force_generic_plan', ...BY_INDEX },
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

export const citus: Engine = {
  isDistributed: true,
  // Citus needs the values of parameters to find the right shards.
  planning: { ...BY_ONE_CONNECTION, ...BY_INDEX, ...ON_WORKERS_TOO, plan_cache_mode: 'force_custom_plan' },
  skipLocked: '',
  secondLevelDomainOfBase: '($1::text[])[1]',
  // With the column's own collation, the planner would choose an index in which it also has to read all names that a
  // public suffix separates from the base. With the collation POSIX, the planner cannot use that index.
  isInShardOfBase: 'AND name.second_level_domain = (($1::text[])[1] COLLATE "POSIX")',
  group: bases => bases.map(base => [base]),
  joinOne: (table, alias, condition) => `JOIN ${table} AS ${alias} ON ${condition}`,
  // No index has the collation POSIX, so the planner scans no index for this condition. The default collation would not
  // work, because Citus does not send it to its workers.
  inShards: (table, parameter) => `AND ${table}.second_level_domain = ANY (${parameter}::text[] COLLATE "POSIX")`,
  toShards: domains => [domains.map(domain => toKey(domain).secondLevelDomain)],

  /**
   * Passes each value as its own parameter, so Citus sends the values of a row only to the shard of that row. Arrays
   * would be sent to every shard, and each shard would unpack all rows. On Citus there are no triggers that skip rows.
   */
  createInsert:
    ({ into, columns, onConflict = '' }) =>
    (_, rows) => {
      const list = Object.keys(columns).join(', ')
      const parts = Object.values(columns)
      const toRow = (first: number) =>
        `(${parts.map(([type, , toSql = String], index) => toSql(`$${first + index}::${type}`)).join(', ')})`
      const values = rows.map((_, index) => toRow(1 + index * parts.length)).join(', ')
      return [
        unprepared(`INSERT INTO ${into} (${list}) VALUES ${values} ${onConflict}`),
        ...rows.flatMap(row => parts.map(([, toValue]) => toValue(row))),
      ]
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
