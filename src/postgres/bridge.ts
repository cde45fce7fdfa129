import { TimeLimitError } from '../deadline.ts'
import {
  type Answer,
  type Database,
  READ_COMMITTED,
  type Settings,
  toCommands,
  toTexts,
  type Work,
} from './database.ts'
import { createQueue } from './query-queue.ts'

/**
 * A bridge to any other driver, query builder or ORM, in a few lines. PGlite, a PostgreSQL inside the process, has this
 * shape by itself.
 *
 * @example <caption>Kysely</caption>
 * import { CompiledQuery, type Kysely } from 'kysely'
 *
 * const toBridge = (db: Kysely<unknown>): PostgresBridge => ({
 *   query: (text, values) => db.executeQuery(CompiledQuery.raw(text, values)),
 *   transaction: work => db.transaction().execute(transaction => work(toBridge(transaction))),
 * })
 */
export interface PostgresBridge {
  /** Runs a statement outside a transaction, on any connection. */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /**
   * Runs work in a transaction. Commits when the work resolves, rolls back when it rejects, and settles after that.
   */
  transaction<T>(work: (transaction: PostgresBridgeTransaction) => Promise<T>): PromiseLike<T>
}

/** A transaction of a {@link PostgresBridge}. */
export interface PostgresBridgeTransaction {
  /**
   * @param text With `$1`, `$2` and so on.
   * @param values Strings, numbers, booleans and `null`.
   */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /** Runs several commands in one text. Without this method each is sent alone, which takes more round trips. */
  exec?(text: string): PromiseLike<unknown>
}

export function fromBridge(bridge: PostgresBridge): Database {
  return {
    isInHostTransaction: false,

    async ask(deadline, { text }, ...values) {
      return (await deadline.wait(bridge.query(text, [...values]))).rows as never
    },

    async transact(deadline, settings, work) {
      const running = bridge.transaction(async transaction => {
        // The call may have timed out while it waited for its turn.
        if (deadline.remaining() === 0) throw new TimeLimitError('No turn in time')
        await apply(transaction, { ...READ_COMMITTED, ...settings })
        const result = await carryOut(transaction, work)
        if (deadline.remaining() === 0) throw new TimeLimitError('Not done in time')
        return result
      })
      return deadline.wait(running)
    },
  }
}

export async function apply(transaction: PostgresBridgeTransaction, settings: Settings): Promise<void> {
  if (transaction.exec) for (const text of toTexts(settings)) await transaction.exec(text)
  else for (const command of toCommands(settings)) await transaction.query(command, [])
}

/** Runs both parts of the work, statement after statement. */
export async function carryOut<Findings, T>(
  transaction: PostgresBridgeTransaction,
  work: Work<Findings, T>,
): Promise<T> {
  const queue = createQueue(({ text, values = [] }) => transaction.query(text, values), {})
  try {
    const result = work.save(await work.find(queue.send, false), queue.send)
    await queue.allAnswered()
    return result
  } catch (error) {
    throw queue.failure() ?? error
  }
}
