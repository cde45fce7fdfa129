import type { Settings } from './database.ts'

/*
 * Citus distributes tables over several servers of PostgreSQL, by the column `second_level_domain`. A statement goes to
 * the shards of the second-level domains that it names as parameters, and else to all; see docs/citus.md.
 */

/** So that calls through different nodes lock in one order, each over one connection to a worker. */
export const FOR_CITUS: Settings = {
  'citus.enable_local_execution': 'off',
  'citus.enable_deadlock_prevention': 'off',
  'citus.max_adaptive_executor_pool_size': '1',
  'citus.multi_shard_modify_mode': 'sequential',
}

/**
 * Makes settings hold on the workers too. For each setting after it Citus sends them the whole text in which it stands:
 * so all but one stand before it.
 */
export const PROPAGATED: Settings = { 'citus.propagate_set_commands': 'local' }

type Distributed = Readonly<Record<'locks' | 'names' | 'changes' | 'keys' | 'version', string>>

/** Distributes the tables that are not distributed yet. */
export const distribute = ({ locks, names, changes, keys, version }: Distributed): string[] => [
  toDistributed(locks, "'none'"),
  toDistributed(names, quote(locks)),
  toDistributed(changes, quote(locks)),
  ...[keys, version].map(table => `SELECT create_reference_table(${quote(table)}) ${unlessDistributed(table)}`),
]

const toDistributed = (table: string, neighbor: string) =>
  `SELECT create_distributed_table(${quote(table)}, 'second_level_domain', colocate_with => ${neighbor})
   ${unlessDistributed(table)}`

const unlessDistributed = (table: string) =>
  `WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ${quote(table)}::regclass)`

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Returns the rows of array parameters as a list of values, which Citus sends to their shards. */
export function toValues(types: readonly string[], length: number, toRow: (elements: readonly string[]) => string) {
  const rows = Array.from({ length }, (_, row) =>
    toRow(types.map((type, index) => `($${index + 1}::${type}[])[${row + 1}]`)),
  )
  return `VALUES ${rows.map(row => `(${row})`).join(', ')}`
}
