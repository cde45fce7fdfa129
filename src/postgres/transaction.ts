import { createDeadline } from '../deadline.ts'
import type { Database, Send, Work } from './connection.ts'
import { retryConflicts } from './retry.ts'
import { type Engine, findEngine, toSettings } from './settings.ts'

/** Runs a transaction, again after a conflict as long as there is time. */
export type Transact = <Findings, T>(work: WorkOnEngine<Findings, T>) => Promise<T>

interface WorkOnEngine<Findings, T> extends Pick<Work<Findings, T>, 'save'> {
  find(send: Send, engine: Engine): Promise<Findings>
}

/** Of the time that is left, so that the server gives up first and the connection can be kept. */
const SERVER_SHARE = 0.9

/** @param timeLimit Milliseconds for each transaction. */
export function createTransact(database: Database, timeLimit: number): Transact {
  let engine: Engine | undefined
  return async work => {
    const deadline = createDeadline(timeLimit)
    return retryConflicts(deadline, async () => {
      const known = engine ?? (await findEngine(database, deadline))
      engine = known
      return database.transact(deadline, toSettings(known, deadline.remaining() * SERVER_SHARE), {
        find: send => work.find(send, known),
        save: work.save,
      })
    })
  }
}
