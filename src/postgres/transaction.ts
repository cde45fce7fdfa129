import { createDeadline } from '../deadline.ts'
import type { Database, Send, Work } from './connection.ts'
import { retryConflicts } from './retry.ts'
import { type Engine, findEngine, toSettings } from './settings.ts'
import type { Statements } from './statements.ts'

/** What work in a transaction is done with. */
export interface Transaction {
  readonly send: Send
  readonly statements: Statements
  readonly engine: Engine
}

/** A transaction while it looks up; see {@link Work.find}. */
export interface LookingTransaction extends Transaction {
  /** Whether a statement can be sent before the one before is answered. */
  readonly isPipelined: boolean
}

/** Runs a transaction, again after a conflict as long as there is time. See {@link Work}. */
export type Transact = <Findings, T>(work: {
  find(transaction: LookingTransaction): Promise<Findings>
  leavesNothing?(findings: Findings): boolean
  save(findings: Findings, transaction: Transaction): T
}) => Promise<T>

/** Of the time that is left, so that the server gives up first and the connection can be kept. */
const SERVER_SHARE = 0.9

/** @param timeLimit Milliseconds for each transaction. */
export function createTransact(database: Database, statements: Statements, timeLimit: number): Transact {
  let known: Engine | undefined
  return async work => {
    const deadline = createDeadline(timeLimit)
    return retryConflicts(deadline, async () => {
      known ??= await findEngine(database, deadline)
      const engine = known
      return database.transact(deadline, toSettings(engine, deadline.remaining() * SERVER_SHARE), {
        ...work,
        find: (send, isPipelined) => work.find({ send, statements, engine, isPipelined }),
        save: (findings, send) => work.save(findings, { send, statements, engine }),
      })
    })
  }
}
