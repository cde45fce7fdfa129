import type { Deadline } from '../../time/deadline.ts'
import type { Statement, Value } from '../statements/sql.ts'

/** The result of a statement. */
export interface PostgresAnswer {
  readonly rows: readonly unknown[]
  /** The first word of the command tag. */
  readonly command?: string
}

/**
 * @throws {TypeError} if a driver or ORM resolves to something else, as Neon's `neon()`, TypeORM's `DataSource` and
 *   Drizzle over postgres.js resolve to the array of the rows.
 */
export function rowsOf<Row>(answer: PostgresAnswer): readonly Row[] {
  const { rows } = Object(answer) as Partial<PostgresAnswer>
  if (Array.isArray(rows)) return rows
  const found = Array.isArray(answer) ? 'an array: return { rows } in its place' : `a value of type ${typeof answer}`
  throw new TypeError(
    `The "query" of the option "database" must resolve to an object with the array "rows", but resolved to ${found}`,
  )
}

/** A statement as a driver sends it. */
export interface PostgresStatement {
  readonly text: string
  readonly name?: string
  /** The drivers' types require a mutable array. */
  readonly values?: unknown[]
}

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
   * limit of its own: then {@link isOurs} does not hold, and the change does nothing. `null` if the driver has no such
   * limit.
   *
   * Changes without this condition may be committed alone: they make changes due whose time is implausible, or note
   * that there is a monitor. If tables are distributed, inserts have no condition, so a late insert of a name is not
   * prevented.
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
export type Send = <Row>(statement: Statement<Row>, ...values: readonly Value[]) => Promise<readonly Row[]>
