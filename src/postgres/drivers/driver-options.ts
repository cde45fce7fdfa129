import { booleanRule, isFunction, type Rules } from '../../options.ts'
import { timeLimitRule } from '../../time/deadline.ts'
import { fromBridge, type PostgresBridge, type PostgresTransaction } from './bridge.ts'
import type { Database } from './database.ts'
import { findCode } from './failures.ts'
import { fromPgPool, type PostgresPool } from './node-postgres.ts'
import { fromTransaction, type Part } from './own-transaction.ts'
import { fromPostgresJs, type PostgresJs } from './postgres-js.ts'

/** The default time limit of a transaction, in milliseconds. */
export const DEFAULT_TRANSACTION_TIME_LIMIT = 10_000

/** A pool or driver of any supported kind. */
export type PostgresDriver = PostgresPool | PostgresJs | PostgresBridge | PostgresTransaction

/** Options for the connection to the database. */
export interface DriverOptions {
  /**
   * A `Pool` of `pg`, a `PGlite`, the `sql` of postgres.js or of Bun, a {@link PostgresBridge} to another driver, or
   * your own transaction (see {@link PostgresTransaction}). The session settings of your connections stay as they are:
   * stores change settings only within a transaction.
   */
  database: PostgresDriver
  /**
   * Whether `pg` and postgres.js use prepared statements, which each connection parses and plans once. Default `true`.
   * Set it to `false` behind a pooler that shares sessions and does not track prepared statements, such as PgBouncer in
   * transaction mode before 1.21 or with `max_prepared_statements = 0`. Calls then take longer.
   */
  preparedStatements?: boolean | undefined
}

/** The rules of the options that stores and `migrate` share. */
export const driverRules = {
  // {@link toDatabase} checks this option and says what is wrong.
  database: { holds: () => true, expected: 'a pool' },
  preparedStatements: booleanRule,
  timeLimit: timeLimitRule,
} satisfies Rules

/**
 * @throws {TypeError} if the option `database` is not of a supported kind. So a mistake is found when the application
 *   starts.
 */
export function toDatabase({ database, preparedStatements = true }: DriverOptions, part: Part): Database {
  return explaining(adapt(database, preparedStatements, part))
}

function adapt(database: PostgresDriver, preparedStatements: boolean, part: Part): Database {
  const parts: Readonly<Record<string, unknown>> = Object(database)
  const has = (...methods: readonly string[]) => methods.every(method => isFunction(parts[method]))
  if (has('release') || parts.connectionParameters !== undefined) {
    throw new TypeError(
      'The option "database" must be a pool of pg, but is a single connection. For your own transaction, pass ' +
        '{ query: (text, values) => client.query(text, values) }',
    )
  }
  if (has('unsafe', 'savepoint')) {
    throw new TypeError(
      'The option "database" must be the sql of postgres.js, but is one of its transactions. Pass ' +
        '{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }',
    )
  }
  if (has('unsafe', 'begin')) return fromPostgresJs(database as PostgresJs, preparedStatements)
  if (has('connect')) return fromPgPool(database as PostgresPool, preparedStatements)
  if (has('query', 'transaction')) return fromBridge(database as PostgresBridge)
  if (has('query')) return fromTransaction(database as PostgresTransaction, part)
  throw new TypeError(
    'The option "database" must be a pool of pg, a PGlite, the sql of postgres.js, or an object with "query" and ' +
      '"transaction"',
  )
}

/** The SQLSTATEs of a missing schema, table, column, or unique constraint for `ON CONFLICT`. */
const missing = new Set(['3F000', '42P01', '42703', '42P10'])

/** Explains errors about missing tables or missing parts of tables. */
function explaining(database: Database): Database {
  function explain(error: unknown): never {
    const code = findCode(error, missing)
    if (code === undefined) throw error
    const message =
      'Tables are missing or differ from what this version needs: run migrate(), then "domain-registration doctor"'
    throw Object.assign(new Error(message, { cause: error }), { code })
  }
  return {
    ...database,
    send: (...question) => database.send(...question).catch(explain),
    transact: (...transaction) => database.transact(...transaction).catch(explain),
  }
}
