import { hasMethods } from '../options.ts'
import type { Driver, SqliteValue } from './driver.ts'
import { createHandleDriver, type SqliteHandle } from './handle-driver.ts'

/** The storage of a Durable Object that keeps its data in SQLite: `ctx.storage`. */
export interface DurableObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } }
  transactionSync<T>(work: () => T): T
}

/** A database that the stores accept, described by the methods that they call. */
export type SqliteDatabase = SqliteHandle | DurableObjectStorage

export const isSqliteDatabase = (value: unknown) =>
  isDurableObjectStorage(value) || hasMethods(value, 'exec', 'prepare')

const isDurableObjectStorage = (value: unknown): value is DurableObjectStorage =>
  hasMethods(value, 'transactionSync') && hasMethods((value as Partial<DurableObjectStorage>).sql, 'exec')

export const toDriver = (database: SqliteDatabase): Driver =>
  isDurableObjectStorage(database) ? createDurableObjectDriver(database) : createHandleDriver(database)

/**
 * A Durable Object has its storage for itself and never waits for a lock. Its runtime caches prepared statements,
 * commits, and holds answers back until all writes are durable.
 */
const createDurableObjectDriver = (storage: DurableObjectStorage): Driver => ({
  hasSettings: false,
  execute: sql => void storage.sql.exec(sql).toArray(),
  prepare:
    sql =>
    (...values) =>
      storage.sql.exec(sql, ...values).toArray() as never,
  transact: work => storage.transactionSync(work),
})
