import { isOurs, prepared } from '../statements/sql.ts'
import type { Engine } from './engine.ts'

export const postgres: Engine = {
  isDistributed: false,
  uniqueId: 'domain_id',
  distribute: () => [],
  onOneServer: () => [],
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
       SELECT ${values.join(', ')} FROM unnest(${[first, ...others].join(', ')}) AS asked (${list})
       WHERE ${isOurs} ${onConflict}`
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
