import type { Send, Statement } from './database.ts'

export interface Query {
  readonly text: string
  /** Under which the connection keeps the prepared statement; without it, it keeps none. */
  readonly name?: string
  readonly values?: unknown[]
}

export interface Answer {
  readonly rows: readonly unknown[]
  /** The command tag's first word. */
  readonly command?: string
}

/** Copied, since drivers want an array that they could change. */
export const toQuery = ({ name, text }: Statement<unknown>, values: readonly unknown[]): Query => ({
  name,
  text,
  values: [...values],
})

export const toNameless = ({ text }: Statement<unknown>, values: readonly unknown[]): Query => ({
  text,
  values: [...values],
})

/** The statements of one transaction, in order. */
export function createQueue(
  query: (query: Query) => PromiseLike<Answer>,
  { isPipelined = false, toQuery = toNameless },
) {
  const answers: Promise<Answer>[] = []
  let failure: unknown

  function add(next: Query): Promise<Answer> {
    // Drivers without pipelining have queues of their own, but what follows a failure need not be sent.
    const previous = isPipelined ? undefined : answers.at(-1)
    const answer = previous ? previous.then(() => query(next)) : Promise.resolve(query(next))
    answer.catch((error: unknown) => {
      failure ??= error
    })
    answers.push(answer)
    return answer
  }

  return {
    add,
    send: ((statement, ...values) => {
      const rows = add(toQuery(statement, values)).then(answer => answer.rows)
      // What is saved is not waited for one by one.
      rows.catch(() => {})
      return rows
    }) as Send,
    /** Rejects with what failed first; all after it only say that the transaction is aborted. */
    async allAnswered() {
      for (const answer of answers) await answer
    },
    count: () => answers.length,
    failure: () => failure,
  }
}
