import type { Driver, SqliteValue } from './driver.ts'

/** What the stores need of a Durable Object that keeps its data in SQLite: `ctx.storage` has it. */
export interface DurableObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } }
  transactionSync<T>(work: () => T): T
}

/**
 * A Durable Object is alone with its storage and waits for nobody. Its runtime keeps prepared statements, commits, and
 * holds back every answer until what was written is durable.
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
