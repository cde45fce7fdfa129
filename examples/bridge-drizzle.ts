import type { PostgresBridge } from 'domain-registration/postgres'
import { type SQL, sql } from 'drizzle-orm'

interface Drizzle {
  execute(query: SQL): PromiseLike<{ rows: unknown[] }>
  transaction<T>(work: (transaction: Drizzle) => Promise<T>): Promise<T>
}

/** Pass it the Drizzle of your pool: `createPostgresStore({ database: bridgeDrizzle(drizzle(pool)), findTeam })`. */
export const bridgeDrizzle = (db: Drizzle): PostgresBridge => ({
  query: (text, values) => db.execute(toSql(text, values)),
  transaction: work => db.transaction(transaction => work(bridgeDrizzle(transaction))),
})

// Drizzle numbers parameters by itself: a schema with "$1" in its name is not for it.
const toSql = (text: string, values: unknown[]) =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 ? sql.param(values[Number(part) - 1]) : sql.raw(part))),
  )
