import type { PostgresBridge, PostgresTransaction } from 'domain-registration/postgres'
import { type SQL, sql } from 'drizzle-orm'

/** Pass it the Drizzle of your pool: `createPostgresStore({ database: bridgeDrizzle(drizzle(pool)), findTeam })`. */
export const bridgeDrizzle = (db: DrizzleOverPool): PostgresBridge => ({
  ...withinDrizzle(db),
  transaction: work => db.transaction(transaction => work(withinDrizzle(transaction))),
})

/** To register within a transaction of yours: `createPostgresStore({ database: withinDrizzle(tx), findTeam })`. */
export const withinDrizzle = (transaction: Drizzle): PostgresTransaction => ({
  query: (text, values) => transaction.execute(toSql(text, values)),
})

interface Drizzle {
  execute(query: SQL): PromiseLike<{ rows: unknown[] }>
}

interface DrizzleOverPool extends Drizzle {
  transaction<T>(work: (transaction: Drizzle) => Promise<T>): Promise<T>
  /** A transaction has it: what goes through that may be rolled back after your monitor was told. */
  rollback?: never
}

// Drizzle numbers parameters by itself: a schema with "$1" in its name is not for it.
const toSql = (text: string, values: unknown[]) =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 ? sql.param(values[Number(part) - 1]) : sql.raw(part))),
  )
