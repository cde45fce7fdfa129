import { type Deadline, TimeLimitError } from '../../time/deadline.ts'
import { type Statement, toArrayLiteral, type Value } from '../statements/sql.ts'
import {
  type PostgresAnswer,
  type PostgresStatement,
  rowsOf,
  type Send,
  type Settings,
  type Transaction,
} from './database.ts'

export const bind = ({ name, text }: Statement<unknown>, values: readonly Value[]): PostgresStatement => ({
  name,
  text,
  values: values.map(value => (Array.isArray(value) ? toArrayLiteral(value) : value)),
})

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
  add(query: PostgresStatement): Promise<PostgresAnswer>
  /** Whether the server has answered a statement. */
  isAnswered(): boolean
  /** Whether the sequence contains statements that must be committed. */
  hasWritten(): boolean
  /**
   * Waits for the last result. Rejects with the first failure of any statement. Also rejects if the deadline has
   * passed.
   */
  allAnswered(): Promise<void>
  /** Ends the sequence: nothing more is sent. */
  end(): void
}

export function createSequence(
  query: (query: PostgresStatement) => PromiseLike<PostgresAnswer>,
  {
    deadline,
    isPipelined = false,
    token = null,
  }: { readonly deadline: Deadline; readonly isPipelined?: boolean; readonly token?: string | null },
): Sequence {
  let last: Promise<unknown> = Promise.resolve()
  let isAnswered = false
  let hasWritten = false
  let isOver = false

  async function sendInTime(next: PostgresStatement): Promise<PostgresAnswer> {
    if (isOver || deadline.remaining() === 0)
      throw new TimeLimitError('The time limit was reached before the next statement')
    return query(next)
  }

  function add(next: PostgresStatement): Promise<PostgresAnswer> {
    const previous = last
    const sent = isPipelined ? sendInTime(next) : previous.then(() => sendInTime(next))
    const answer = previous.then(() => sent)
    // If this statement fails, all later results reject with its error, so each rejection can be ignored here.
    sent.catch(ignore)
    answer.then(() => {
      isAnswered = true
    }, ignore)
    last = answer
    return answer
  }

  const send: Send = (statement, ...values) => {
    const answer = add(bind(statement, values)).then(rowsOf<never>)
    answer.catch(ignore)
    return answer
  }
  return {
    add,
    send,
    token,
    write: (...statement) => {
      hasWritten = true
      return send(...statement)
    },
    isAnswered: () => isAnswered,
    hasWritten: () => hasWritten,
    async allAnswered() {
      await last
      if (deadline.remaining() === 0) throw new TimeLimitError('The transaction did not finish in time')
    },
    end() {
      isOver = true
    },
  }
}

/** For what fails with a failure that something else reports. */
export function ignore(): void {}

/**
 * SQL that makes the commit of the transaction wait for the disk, even if the role or the database has
 * `synchronous_commit = off`: a result that a caller got survives a crash. A stronger setting is kept.
 */
export const WAIT_FOR_DISK = `set_config('synchronous_commit',
  coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), true)`

/**
 * Applies all settings in one statement, because each statement takes a round trip.
 *
 * @param more SQL expressions to evaluate in the same statement.
 */
export function apply(sequence: Sequence, settings: Settings, ...more: readonly string[]): void {
  const calls = Object.keys(settings).map((name, index) => `set_config('${name}', $${index + 1}, true)`)
  void sequence.add({ text: `SELECT ${[...calls, ...more].join(', ')}`, values: Object.values(settings) })
}
