import { toKey } from '../../store/name-key.ts'
import type { Settings } from '../drivers/database.ts'
import { unprepared } from '../statements/sql.ts'
import type { Engine } from './engine.ts'

/*
 * What only Citus needs. Citus sends a statement to the shards of the second-level domains in its parameters, or to all
 * shards if no parameter contains a second-level domain. In a change, it accepts functions that are not immutable only
 * as conditions of their own, which it evaluates before it sends the statement to the workers: not in CASE, coalesce()
 * or RETURNING. It sets no column from an expression that depends on the time zone, such as one with an interval, and
 * takes no string as a time. See docs/citus.md.
 */

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
  // A unique index must contain the column that distributes the rows.
  uniqueId: 'domain_id, second_level_domain',
  /** Leaves out tables that are already distributed. */
  distribute: tables => [
    toDistributed(tables.locks, "'none'"),
    toDistributed(tables.names, quoteLiteral(tables.locks)),
    toDistributed(tables.changes, quoteLiteral(tables.locks)),
    ...[tables.monitor, tables.keys, tables.version].map(
      table => `SELECT create_reference_table(${quoteLiteral(table)}) ${unlessDistributed(table)}`,
    ),
  ],
  // The statements on names that wait change rows in ways that only plain PostgreSQL can.
  onOneServer: ({ waiting }) => [waiting],
  // Citus needs the values of parameters to find the right shards.
  planning: { ...BY_ONE_CONNECTION, ...ON_WORKERS_TOO, plan_cache_mode: 'force_custom_plan' },
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

const toDistributed = (table: string, neighbor: string) =>
  `SELECT create_distributed_table(${quoteLiteral(table)}, 'second_level_domain', colocate_with => ${neighbor})
   ${unlessDistributed(table)}`

const unlessDistributed = (table: string) =>
  `WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ${quoteLiteral(table)}::regclass)`

const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`
