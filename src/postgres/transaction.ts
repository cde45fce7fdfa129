import { createDeadline } from '../deadline.ts'
import type { Database, Work } from './connection.ts'
import { retryConflicts } from './retry.ts'
import { findEngine, toSettings } from './settings.ts'

/** Runs a transaction, again after a conflict as long as there is time. */
export type Transact = <Findings, T>(work: Work<Findings, T>) => Promise<T>

/** Of the time that is left, so that the server gives up first and the connection can be kept. */
const SERVER_SHARE = 0.9

/** @param timeLimit Milliseconds for each transaction. */
export function createTransact(database: Database, timeLimit: number): Transact {
  let engine: Awaited<ReturnType<typeof findEngine>> | undefined
  return async work => {
    const deadline = createDeadline(timeLimit)
    return retryConflicts(deadline, async () => {
      engine ??= await findEngine(database, deadline)
      return database.transact(deadline, toSettings(engine, deadline.remaining() * SERVER_SHARE), work)
    })
  }
}
