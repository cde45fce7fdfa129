import { hasMethods } from '../options.ts'
import type { Driver } from './driver.ts'
import { createDurableObjectDriver, type DurableObjectStorage } from './durable-object-driver.ts'
import { createHandleDriver, type SqliteHandle } from './handle-driver.ts'

/** A database that the stores accept, described by the methods that they call. */
export type SqliteDatabase = SqliteHandle | DurableObjectStorage

export const isSqliteDatabase = (value: unknown) =>
  isDurableObjectStorage(value) || hasMethods(value, 'exec', 'prepare')

const isDurableObjectStorage = (value: unknown): value is DurableObjectStorage =>
  hasMethods(value, 'transactionSync') && hasMethods((value as Partial<DurableObjectStorage>).sql, 'exec')

export const toDriver = (database: SqliteDatabase): Driver =>
  isDurableObjectStorage(database) ? createDurableObjectDriver(database) : createHandleDriver(database)
