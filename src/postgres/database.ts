import { type Deadline, TimeLimitError } from '../time/deadline.ts'
import { type Answer, type BoundStatement, bind, type Statement, type Value } from './statement.ts'

/** The operations that the stores need from a database. Each kind of driver has an adapter to this interface. */
export interface Database {
  /** Whether all work is part of a transaction that the application commits later. */
  readonly isInTransaction: boolean
  /**
   * Runs one statement outside a transaction, in one round trip.
   *
   * @throws The failure of the statement, or a {@link TimeLimitError} at the deadline.
   */
  ask<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly Value[]): Promise<readonly Row[]>
  /**
   * Calls `work` in a transaction, and commits the transaction.
   *
   * @throws The first failure, or a {@link TimeLimitError} at the deadline. Then nothing is saved, and nothing more is
   *   sent.
   */
  transact<T>(deadline: Deadline, settings: Settings, work: (transaction: Transaction) => Promise<T>): Promise<T>
}

/** Settings of the server for one transaction, by name. */
export type Settings = Readonly<Record<string, string>>

export interface Transaction {
  /**
   * Locks and looks up rows. A transaction that changes no rows may end with a rollback, which does not wait for the
   * disk.
   */
  readonly ask: Send
  /**
   * Inserts, updates or deletes rows. First wait for the result of an earlier statement, which shows that the `BEGIN`
   * succeeded. Otherwise each change might be committed on its own. If such a commit is harmless, you need not wait.
   */
  readonly change: Send
}

/**
 * Sends a statement in a transaction. Statements that are sent without waiting for results are pipelined if the driver
 * supports it, but still run in order.
 *
 * @returns The result, after the results of all earlier statements. Rejects with the first failure of these statements.
 */
export type Send = <Row>(statement: Statement<Row>, ...values: readonly Value[]) => Promise<Answer<Row>>

/** Returns the commands that apply settings, as one string: drivers allow several commands in one string. */
export const toCommands = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `SET LOCAL ${name} = '${value.replaceAll("'", "''")}'`)
    .join('; ')

/**
 * The statements of one transaction, in order. No statement is sent after a failure, after the deadline, or after the
 * sequence has ended.
 */
export interface Sequence extends Transaction {
  add(query: BoundStatement): Promise<Answer>
  /** Whether the sequence contains changes that must be committed. */
  hasChanges(): boolean
  /**
   * Waits for the last result. Rejects with the first failure of any statement. Also rejects if the deadline has
   * passed.
   */
  allAnswered(): Promise<void>
  /** Ends the sequence: nothing more is sent. */
  end(): void
}

export function createSequence(
  query: (query: BoundStatement) => PromiseLike<Answer>,
  { deadline, isPipelined = false }: { readonly deadline: Deadline; readonly isPipelined?: boolean },
): Sequence {
  let last: Promise<unknown> = Promise.resolve()
  let hasChanges = false
  let isOver = false

  async function send(next: BoundStatement): Promise<Answer> {
    if (isOver || deadline.remaining() === 0)
      throw new TimeLimitError('The time limit was reached before the next statement')
    return query(next)
  }

  function add(next: BoundStatement): Promise<Answer> {
    const previous = last
    const sent = isPipelined ? send(next) : previous.then(() => send(next))
    const answer = previous.then(() => sent)
    // If this statement fails, all later results reject with its error, so the rejection can be ignored here.
    sent.catch(ignore)
    answer.catch(ignore)
    last = answer
    return answer
  }

  const ask = ((statement, ...values) => add(bind(statement, values))) as Send
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
      if (deadline.remaining() === 0) throw new TimeLimitError('The transaction did not finish in time')
    },
    end() {
      isOver = true
    },
  }
}

function ignore(): void {}
