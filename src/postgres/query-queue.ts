import type { Answer, Send, Statement } from './database.ts'

export interface Query {
  readonly text: string
  /** The name of the prepared statement. Without a name the statement is not kept. */
  readonly name?: string
  readonly values?: unknown[]
}

/** Copies the values: the types of drivers ask for an array that may be changed. */
export const toQuery = ({ name, text }: Statement<unknown>, values: readonly unknown[]): Query => ({
  name,
  text,
  values: [...values],
})

export const toNameless = ({ text }: Statement<unknown>, values: readonly unknown[]): Query => ({
  text,
  values: [...values],
})

/** Queues the statements of one transaction. */
export function createQueue(
  query: (query: Query) => PromiseLike<Answer>,
  { isPipelined = false, toQuery = toNameless },
) {
  const answers: Promise<Answer>[] = []
  let failure: unknown

  function add(next: Query): Promise<Answer> {
    // Drivers without pipelining queue by themselves, but would also send the statements after a failed one.
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
    send: ((statement, ...values) => add(toQuery(statement, values))) as Send,
    /** Rejects with the first failure. All later ones only say that the transaction is aborted. */
    async allAnswered() {
      for (const answer of answers) await answer
    },
    count: () => answers.length,
    failure: () => failure,
  }
}
