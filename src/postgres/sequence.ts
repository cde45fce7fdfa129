import { type Deadline, TimeLimitError } from '../deadline.ts'
import type { Answer, Send, Statement, Transaction } from './database.ts'

export interface Query {
  readonly text: string
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

interface SequenceOptions {
  readonly deadline: Deadline
  readonly isPipelined?: boolean
  readonly toQuery?: typeof toQuery | typeof toNameless
}

/** The statements of one transaction, in order. None is sent after a failure, past the deadline, or after the end. */
export interface Sequence extends Transaction {
  add(query: Query): Promise<Answer>
  /** Whether anything was changed that has to be committed. */
  hasChanges(): boolean
  /** Waits for the last answer. Rejects with the first failure of all, and past the deadline. */
  allAnswered(): Promise<void>
  /** Sends nothing more. */
  end(): void
}

export function createSequence(
  query: (query: Query) => PromiseLike<Answer>,
  { deadline, isPipelined = false, toQuery = toNameless }: SequenceOptions,
): Sequence {
  let last: Promise<unknown> = Promise.resolve()
  let hasChanges = false
  let isOver = false

  async function send(next: Query): Promise<Answer> {
    if (isOver || deadline.remaining() === 0) throw new TimeLimitError('The time was over before the next statement')
    return query(next)
  }

  function add(next: Query): Promise<Answer> {
    const previous = last
    const sent = isPipelined ? send(next) : previous.then(() => send(next))
    const answer = previous.then(() => sent)
    // Whoever waits for a later answer learns of it.
    sent.catch(ignore)
    answer.catch(ignore)
    last = answer
    return answer
  }

  const ask = ((statement, ...values) => add(toQuery(statement, values))) as Send
  return {
    add,
    ask,
    change: (...statement) => {
      hasChanges = true
      return ask(...statement)
    },
    hasChanges: () => hasChanges,
    async allAnswered() {
      await last
      if (deadline.remaining() === 0) throw new TimeLimitError('Not done in time')
    },
    end() {
      isOver = true
    },
  }
}

function ignore(): void {}
