import { TimeLimitError } from '../deadline.ts'
import { type Database, READ_COMMITTED, type Settings, toCommands, toTexts, type Work } from './database.ts'
import { type Answer, createQueue } from './query-queue.ts'

/**
 * What the store needs of any other driver: a bridge of a few lines, for a query builder or an ORM. PGlite, PostgreSQL
 * within the process, has it by itself.
 *
 * @example <caption>Kysely</caption>
 * const toBridge = db => ({
 *   query: (text, values) => db.executeQuery(CompiledQuery.raw(text, values)),
 *   transaction: work => db.transaction().execute(transaction => work(toBridge(transaction))),
 * })
 */
export interface PostgresBridge {
  /** Runs a statement by itself, on any connection. */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /**
   * Runs work in a transaction: commits when it resolves, rolls back when it rejects. Resolves only once that is done.
   */
  transaction<T>(work: (transaction: PostgresBridgeTransaction) => Promise<T>): PromiseLike<T>
}

/** What runs statements inside a transaction of a {@link PostgresBridge}. */
export interface PostgresBridgeTransaction {
  /**
   * @param text With `$1`, `$2` and so on.
   * @param values Of these: text, numbers, booleans and `null`.
   */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /** Runs several commands in one text. Without it each is sent by itself, which takes more round trips. */
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
        // Its turn may come when nobody waits any longer.
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

/** Does both parts of work, one statement after the other. */
export async function carryOut<Findings, T>(
  transaction: PostgresBridgeTransaction,
  work: Work<Findings, T>,
): Promise<T> {
  const queue = createQueue(({ text, values = [] }) => transaction.query(text, values), {})
  try {
    const result = work.save(await work.find(queue.send), queue.send)
    await queue.allAnswered()
    return result
  } catch (error) {
    throw queue.failure() ?? error
  }
}
