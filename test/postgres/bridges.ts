import { type SQL, sql } from 'drizzle-orm'
import { CompiledQuery, type Kysely } from 'kysely'
import type { PostgresBridge } from '../../src/postgres/index.ts'

// As docs/postgres.md shows them.

export const bridgeKysely = (db: Kysely<unknown>): PostgresBridge => ({
  query: (text, values) => db.executeQuery(CompiledQuery.raw(text, values)),
  transaction: work => db.transaction().execute(transaction => work(bridgeKysely(transaction))),
})

interface DrizzleDatabase {
  execute(query: SQL): PromiseLike<{ rows: unknown[] }>
  transaction<T>(work: (transaction: DrizzleDatabase) => Promise<T>): Promise<T>
}

export const bridgeDrizzle = (db: DrizzleDatabase): PostgresBridge => ({
  query: (text, values) => db.execute(toDrizzleSql(text, values)),
  transaction: work => db.transaction(transaction => work(bridgeDrizzle(transaction))),
})

/** Drizzle numbers parameters by itself. */
const toDrizzleSql = (text: string, values: unknown[]) =>
  sql.join(
    text.split(/\$(\d+)/).map((part, index) => (index % 2 ? sql.param(values[Number(part) - 1]) : sql.raw(part))),
  )
