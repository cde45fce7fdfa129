import { fromBridge, type PostgresBridge } from './bridge.ts'
import type { Database } from './database.ts'
import { fromHostTransaction, type PostgresHostTransaction } from './host-transaction.ts'
import { fromPgPool, type PostgresPool } from './pg-pool.ts'
import { fromPostgresJs, type PostgresJs } from './postgres-js.ts'
import { findCode } from './retry.ts'

export type { Database, Send, Settings, Statement, Work } from './database.ts'

/** Milliseconds for each piece of work in the database. */
export const DEFAULT_TIME_LIMIT = 10_000

/** Any way to a database. */
export type PostgresDriver = PostgresPool | PostgresJs | PostgresBridge | PostgresHostTransaction

/** How the database is reached. */
export interface DriverOptions {
  /**
   * A pool of `pg`, a PGlite, the `sql` of postgres.js, or a bridge to another driver: {@link PostgresBridge}. It
   * stays yours: nothing of its sessions is changed beyond a transaction. Or a transaction of yours: {@link
   * PostgresHostTransaction}.
   */
  pool: PostgresDriver
  /**
   * Whether `pg` and postgres.js send statements under names, so that each connection parses and plans them once.
   * Default true. With `false` calls take longer, and work behind a pooler that hands each transaction another session
   * and knows nothing of prepared statements: PgBouncer in transaction mode before 1.21, or with
   * `max_prepared_statements = 0`.
   */
  preparedStatements?: boolean | undefined
}

/** @throws {TypeError} for what is none, so that a host learns of it when it starts. */
export function toDatabase({ pool, preparedStatements = true }: DriverOptions): Database {
  return naming(adapt(pool, preparedStatements))
}

type Parts = Partial<PostgresPool & PostgresJs & PostgresBridge> & { connectionParameters?: unknown; release?: unknown }

function adapt(pool: PostgresDriver, preparedStatements: boolean): Database {
  const { begin, unsafe, query, transaction, connect, connectionParameters, release } = (pool ?? {}) as Parts
  if (connectionParameters !== undefined || typeof release === 'function') {
    throw new TypeError(
      'The option "pool" must be a pool of pg, and is one connection. For a transaction of yours pass ' +
        '{ query: (text, values) => client.query(text, values) }',
    )
  }
  if (typeof begin === 'function' && typeof unsafe === 'function')
    return fromPostgresJs(pool as PostgresJs, preparedStatements)
  if (typeof connect === 'function') return fromPgPool(pool as PostgresPool, preparedStatements)
  if (typeof query === 'function' && typeof transaction === 'function') return fromBridge(pool as PostgresBridge)
  if (typeof query === 'function') return fromHostTransaction(pool as PostgresHostTransaction)
  throw new TypeError(
    'The option "pool" must be a pool of pg, a PGlite, the sql of postgres.js, or an object with query and transaction',
  )
}

/** SQLSTATE of a schema, a table or a column that is not there. */
const missing = new Set(['3F000', '42P01', '42703'])

/** Says what to do about missing tables. */
function naming(database: Database): Database {
  function explain(error: unknown): never {
    const code = findCode(error, missing)
    if (code === undefined) throw error
    const message = 'Tables are not there as this version of the package needs them: run migrate()'
    throw Object.assign(new Error(message, { cause: error }), { code })
  }
  return {
    ...database,
    ask: (...question) => database.ask(...question).catch(explain),
    transact: (...transaction) => database.transact(...transaction).catch(explain),
  }
}
