import { quoteIdentifier } from '../../postgres/schema.ts'
import { type Finding, note, ok } from './finding.ts'
import type { Ask, Place } from './postgres-connection.ts'

/** A table or index is reported if it exceeds both limits: this many times its rebuilt size, and this many bytes. */
const MOST_GROWTH = 5
const LEAST_BYTES = 10_000_000
/** A transaction that has been open for this many minutes is reported. */
const LONGEST_TRANSACTION = 5

/** A table or an index. */
export interface Size {
  readonly name: string
  /** The name of the table or, for an index, of the table that it belongs to. */
  readonly table: string
  readonly isIndex: boolean
  readonly bytes: number
  /** The size in bytes after a rebuild, estimated from statistics. `null` before the first `ANALYZE`. */
  readonly rebuilt: number | null
}

/**
 * Estimates the size after a rebuild. A row takes 28 bytes in addition to its columns, and an index entry takes 16; a
 * tenth of each page stays free. A hash index takes 20 bytes for each entry, and is at most three quarters full.
 */
const SELECT_SIZES = `
SELECT relation.relname AS name, base.relname AS "table", index.indexrelid IS NOT NULL AS "isIndex",
  pg_relation_size(relation.oid)::float8 AS bytes,
  CASE WHEN base.reltuples < 0 OR widths.bytes IS NULL THEN NULL ELSE 16384 + base.reltuples / 0.9 *
    CASE WHEN method.amname = 'hash' THEN 25 WHEN index.indexrelid IS NULL THEN 28 + widths.bytes
      ELSE 16 + widths.bytes END END::float8 AS rebuilt
FROM pg_class AS base JOIN pg_namespace AS place ON place.oid = base.relnamespace
  JOIN pg_class AS relation ON relation.oid = base.oid
    OR relation.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = base.oid)
  LEFT JOIN pg_index AS index ON index.indexrelid = relation.oid
  LEFT JOIN pg_am AS method ON method.oid = relation.relam
  CROSS JOIN LATERAL (SELECT sum(avg_width)::float8 AS bytes
    FROM pg_stats JOIN pg_attribute ON pg_attribute.attname = pg_stats.attname
    WHERE schemaname = place.nspname AND tablename = base.relname AND pg_attribute.attrelid = relation.oid) AS widths
WHERE place.nspname = $1 AND base.relkind = 'r' AND base.relname IN ('names', 'changes', 'locks')
ORDER BY base.relname, index.indexrelid IS NOT NULL, relation.relname`

/** Returns each table before its indexes. */
export const readSizes = (ask: Ask, schema: string): Promise<readonly Size[]> => ask<Size>(SELECT_SIZES, schema)

/** Looks for tables and indexes that have grown too large, and for transactions that prevent their cleanup. */
export async function* examineGrowth(ask: Ask, { schema }: Place): AsyncGenerator<Finding> {
  const findings = [...(await findBloat(ask, schema)), ...(await findOldTransactions(ask))]
  yield* findings
  if (findings.length === 0) {
    yield ok('growth', `no table or index is ${MOST_GROWTH} times its rebuilt size; no transaction is old`)
  }
}

async function findBloat(ask: Ask, schema: string): Promise<Finding[]> {
  const sizes = await readSizes(ask, schema)
  return sizes
    .filter(({ bytes, rebuilt }) => rebuilt !== null && bytes > LEAST_BYTES && bytes > MOST_GROWTH * rebuilt)
    .map(({ name, isIndex, bytes, rebuilt }) => {
      const kind = isIndex ? 'index' : 'table'
      const finding = `the ${kind} "${name}" takes ${toSize(bytes)}, and about ${toSize(rebuilt ?? 0)} once rebuilt`
      const place = `${quoteIdentifier(schema)}.${name}`
      return isIndex
        ? note('growth', finding, 'Calls continue while it is rebuilt:', [`REINDEX INDEX CONCURRENTLY ${place}`])
        : note('growth', finding, 'This blocks calls for a moment:', [`VACUUM FULL ${place}`])
    })
}

async function findOldTransactions(ask: Ask): Promise<Finding[]> {
  const [oldest] = await ask<{ pid: number; role: string; application: string; minutes: number }>(
    `SELECT pid, usename AS role, application_name AS application,
       (extract(epoch FROM now() - xact_start) / 60)::float8 AS minutes FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 1`,
  )
  if (!oldest || oldest.minutes < LONGEST_TRANSACTION) return []
  const who = `pid ${oldest.pid} (role "${oldest.role}", application "${oldest.application}")`
  const finding = `the transaction of ${who} has been open for ${Math.floor(oldest.minutes)} minutes`
  const advice = 'Rows deleted since then cannot be cleaned up. If nobody needs the transaction:'
  return [note('growth', finding, advice, [`SELECT pg_terminate_backend(${oldest.pid})`])]
}

export const toSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
