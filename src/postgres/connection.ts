import { toSelectList } from '../store/rows.ts'
import { type Deadline, TimeLimitError } from '../time/deadline.ts'

/** One SQL statement with parameters. */
export interface Statement<Row = never> {
  /** The name of the prepared statement on each connection. A statement without a name is not prepared. */
  readonly name: string
  readonly text: string
  /** Never set; only carries the type of a result row. */
  readonly row?: Row
}

/** A value of a parameter. */
export type Value = Element | undefined | readonly Element[]
/** A single value of a parameter. */
export type Element = string | number | null

/** The result of a statement. */
export interface PostgresAnswer {
  readonly rows: readonly unknown[]
  /** The first word of the command tag. */
  readonly command?: string
}

/**
 * Creates a statement that each connection plans once, perhaps while the tables are empty. So the plan must be right
 * for tables of any size. The name of the statement also depends on the SQL, because several versions of this package,
 * or several schemas, may share a connection.
 */
export const prepared = <Row = never>(name: string, text: string): Statement<Row> => ({
  name: `domain_registration_${name}_${checksum(text)}`,
  text,
})

/** Creates a statement that is planned each time, for the current size of the tables. */
export const unprepared = <Row = never>(text: string): Statement<Row> => ({ name: '', text })

/** FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16)
}

/** A statement as a driver sends it. */
export interface PostgresStatement {
  readonly text: string
  readonly name?: string
  /** The drivers' types require a mutable array. */
  readonly values?: unknown[]
}

export const bind = ({ name, text }: Statement<unknown>, values: readonly Value[]): PostgresStatement => ({
  name,
  text,
  values: values.map(value => (Array.isArray(value) ? toArrayLiteral(value) : value)),
})

export const isRead = ({ text }: Statement<unknown>) => text.startsWith('SELECT')

/**
 * Writes an array literal (PostgreSQL documentation, section 8.15.6) with every element in quotes. The literal is
 * passed as a parameter, so any string is treated as data. Drivers would escape one element at a time, which is slower.
 */
export function toArrayLiteral(elements: readonly Element[]): string {
  // In the common case, there is nothing to escape.
  const isPlain = elements.length > 0 && !elements.includes(null) && !SPECIAL.test(elements.join(''))
  if (isPlain) return `{"${elements.join('","')}"}`
  return `{${elements.map(element => (element === null ? 'NULL' : quoteElement(String(element)))).join(',')}}`
}

const SPECIAL = /["\\]/
const quoteElement = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Returns the parameters of a statement on many rows: one array for each of the given properties. */
export const toArrays = <Name extends string>(
  rows: readonly Readonly<Record<Name, Element>>[],
  ...names: readonly Name[]
): Element[][] => names.map(name => rows.map(row => row[name]))

/**
 * SQL that converts a time to milliseconds since 1970. The result is a string, because drivers return times and large
 * numbers in different forms.
 */
export const toMilliseconds = (time: string) => `round(extract(epoch FROM ${time}) * 1000)::bigint::text`

/** SQL that converts milliseconds since 1970 to a time. */
export const toTime = (milliseconds: string) => `to_timestamp(${milliseconds} / 1000)`

/** A setting that has a value only within the store's own transaction. */
export const TOKEN = 'domain_registration.transaction'

/**
 * SQL of an array of a change, whose `$1` is {@link Transaction.token}. In any other transaction, the array is NULL, so
 * nothing changes.
 */
export const ours = (array: string) =>
  `(CASE WHEN $1::text IS NULL OR current_setting('${TOKEN}', true) = $1::text THEN ${array} END)`

/** A result row of a statement that returns the IDs of the rows that it changed. */
export interface Id {
  readonly domainId: string
}

export const returningId = `RETURNING ${toSelectList<Id>({ domainId: 'domain_id::text' })}`

/** Sorts before all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after all IDs. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The operations that the stores need from a database. Each kind of driver has an adapter to this interface. */
export interface Database {
  /** Whether all work is part of a transaction that the application commits later. */
  readonly isInTransaction: boolean
  /**
   * Runs one statement outside a transaction, in one round trip.
   *
   * @throws The failure of the statement, or a {@link TimeLimitError} at the deadline.
   */
  send<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly Value[]): Promise<readonly Row[]>
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
   * Sends a statement that need not be committed: it reads, or it locks. A transaction of only such statements may end
   * with a rollback, which does not wait for the disk.
   */
  readonly send: Send
  /**
   * Sends a statement that must be committed. First wait for the rows of an earlier statement, which show that the
   * `BEGIN` succeeded. Otherwise each statement might be committed on its own. If such a commit is harmless, you need
   * not wait.
   */
  readonly write: Send
  /**
   * The `$1` of each change. A driver may send a statement after it has rolled back the transaction, because of a time
   * limit of its own: then the change is not {@link ours}, and does nothing. `null` if the driver has no such limit.
   *
   * Changes without an array may be committed alone: they make changes due whose time is implausible, or note that
   * there is a monitor. On Citus, inserts have no array, so there a late insert of a name is not prevented.
   */
  readonly token: string | null
}

/**
 * Sends a statement in a transaction. Statements that are sent without waiting for results are pipelined if the driver
 * supports it, but still run in order.
 *
 * @returns The rows, after the results of all earlier statements. Rejects with the first failure of these statements.
 *   If nobody waits for the rows, the rejection is ignored, because all later results reject too.
 */
type Send = <Row>(statement: Statement<Row>, ...values: readonly Value[]) => Promise<readonly Row[]>

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
    const answer = add(bind(statement, values)).then(({ rows }) => rows as never)
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

function ignore(): void {}

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
