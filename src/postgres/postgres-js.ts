import { TimeLimitError } from '../deadline.ts'
import { type Database, READ_COMMITTED, toTexts } from './database.ts'
import { createQueue, type Query } from './query-queue.ts'

/** The `sql` of postgres.js: `postgres('postgres://…')`. */
export interface PostgresJs extends PostgresJsTransaction {
  begin(work: (transaction: PostgresJsTransaction) => Promise<unknown>): PromiseLike<unknown>
}

/** A transaction of postgres.js. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: never[], options?: { prepare?: boolean }): PromiseLike<PostgresJsRows>
}

interface PostgresJsRows extends ReadonlyArray<unknown> {
  /** How many rows the statement inserted, updated or deleted. */
  readonly count?: number | null
}

/** postgres.js pipelines by itself, and prepares a statement by its text. */
export function fromPostgresJs(sql: PostgresJs, prepare: boolean): Database {
  const run = (through: PostgresJsTransaction, text: string, values: readonly unknown[]) =>
    through.unsafe(text, [...values] as never[], { prepare })

  return {
    isInHostTransaction: false,

    async ask(deadline, { text }, ...values) {
      return (await deadline.wait(run(sql, text, values))) as never
    },

    async transact(deadline, settings, work) {
      let result: unknown
      const running = sql.begin(async transaction => {
        // The call may have timed out while it waited for a connection.
        if (deadline.remaining() === 0) throw new TimeLimitError('No turn in time')
        const send = async ({ text, values }: Query) => {
          const rows = await (values ? run(transaction, text, values) : transaction.unsafe(text))
          return { rows, rowCount: rows.count }
        }
        const queue = createQueue(send, { isPipelined: true })
        try {
          const opening = toTexts({ ...READ_COMMITTED, ...settings }).map(text => queue.add({ text }))
          const [findings] = await Promise.all([work.find(queue.send, true), ...opening])
          result = work.save(findings, queue.send)
          await queue.allAnswered()
          if (deadline.remaining() === 0) throw new TimeLimitError('Not done in time')
        } catch (error) {
          throw queue.failure() ?? error
        }
      })
      await deadline.wait(running)
      return result as never
    },
  }
}
