import type { Driver, SqliteValue } from './driver.ts'

/** The storage of a Durable Object that keeps its data in SQLite: `ctx.storage`. */
export interface DurableObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } }
  transactionSync<T>(work: () => T): T
}

/**
 * A Durable Object has its storage for itself and never waits for a lock. Its runtime caches prepared statements,
 * commits, and holds answers back until all writes are durable.
 */
export const createDurableObjectDriver = (storage: DurableObjectStorage): Driver => ({
  hasSettings: false,
  execute: sql => void storage.sql.exec(sql).toArray(),
  prepare:
    sql =>
    (...values) =>
      storage.sql.exec(sql, ...values).toArray() as never,
  transact: work => storage.transactionSync(work),
})
