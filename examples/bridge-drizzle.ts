import type { PostgresBridge, PostgresTransaction } from 'domain-registration/postgres'
import { type SQL, sql } from 'drizzle-orm'

/** Takes your pool's Drizzle instance: `createPostgresStore({ database: bridgeDrizzle(drizzle(pool)), findTeam })`. */
export const bridgeDrizzle = (db: DrizzleOverPool): PostgresBridge => ({
  ...withinDrizzle(db),
  transaction: work => db.transaction(transaction => work(withinDrizzle(transaction))),
})

/** To register within your own transaction: `createPostgresStore({ database: withinDrizzle(tx), findTeam })`. */
export const withinDrizzle = (transaction: Drizzle): PostgresTransaction => ({
  query: (text, values) => transaction.execute(toSql(text, values)),
})

interface Drizzle {
  execute(query: SQL): PromiseLike<{ rows: unknown[] }>
}

interface DrizzleOverPool extends Drizzle {
  transaction<T>(work: (transaction: Drizzle) => Promise<T>): Promise<T>
  /** Excludes transactions: a transaction might be rolled back after its registrations were pushed to your monitor. */
  rollback?: never
}

// Drizzle numbers the parameters itself, so this function replaces every "$1", "$2" and so on. The name of the schema
// must not contain such a placeholder.
const toSql = (text: string, values: unknown[]) =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 ? sql.param(values[Number(part) - 1]) : sql.raw(part))),
  )
