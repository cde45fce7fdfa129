import { type Database, toCommands } from './database.ts'
import { createSequence, type Query } from './sequence.ts'

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
    isInTransaction: false,

    async ask(deadline, { text }, ...values) {
      return (await deadline.wait(run(sql, text, values))) as never
    },

    async transact(deadline, settings, work) {
      let result: unknown
      const running = sql.begin(async transaction => {
        const send = async ({ text, values }: Query) => {
          const rows = await (values ? run(transaction, text, values) : transaction.unsafe(text))
          return { rows, rowCount: rows.count }
        }
        const sequence = createSequence(send, { deadline, isPipelined: true })
        void sequence.add({ text: toCommands(settings) })
        result = await work(sequence)
        await sequence.allAnswered()
      })
      await deadline.wait(running)
      return result as never
    },
  }
}
