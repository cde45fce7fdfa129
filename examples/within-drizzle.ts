import type { PostgresTransaction } from 'domain-registration/postgres'
import { type SQL, sql } from 'drizzle-orm'

/** To register within your own transaction: `createPostgresStore({ database: withinDrizzle(tx), findTeam })`. */
export const withinDrizzle = (transaction: Drizzle): PostgresTransaction => ({
  async query(text, values) {
    const result = await transaction.execute(toSql(text, values))
    return 'rows' in result ? result : { rows: result } // over postgres.js, the result is an array
  },
})

interface Drizzle {
  execute(query: SQL): PromiseLike<{ rows: unknown[] } | unknown[]>
}

// Drizzle numbers the parameters itself, so this function replaces every "$1", "$2" and so on. The name of the schema
// must not contain such a placeholder.
const toSql = (text: string, values: unknown[]) =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 ? sql.param(values[Number(part) - 1]) : sql.raw(part))),
  )
