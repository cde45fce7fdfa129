import type { Deadline } from '../deadline.ts'

/** One SQL statement with parameters, prepared once on each connection. */
export interface Statement<Row = never> {
  /** The name of the prepared statement. Without a name the statement is not kept. */
  readonly name: string
  readonly text: string
  /** The type of a row of the answer; never set. */
  readonly row?: Row
}

/** The answer to a statement. */
export interface Answer<Row = unknown> {
  readonly rows: readonly Row[]
  /** How many rows the statement inserted, updated or deleted. Left out if the driver cannot tell. */
  readonly rowCount?: number | null | undefined
  /** The first word of the command tag. */
  readonly command?: string
}

/**
 * Sends a statement in a transaction. Statements sent without waiting in between are pipelined if the driver can; they
 * run in order all the same.
 *
 * @returns The answer, once all statements before it have been answered too: it rejects with the first failure of all.
 */
export type Send = <Row>(statement: Statement<Row>, ...values: readonly unknown[]) => Promise<Answer<Row>>

export interface Transaction {
  /** Claims and looks up. A transaction that does nothing else may be rolled back, which does not wait for the disk. */
  readonly ask: Send
  /**
   * Changes what has to be committed. To be sent after an answer, unless it does no harm alone: the `BEGIN` before it
   * may have failed.
   */
  readonly change: Send
}

/** Settings of the server for one transaction, by name. */
export type Settings = Readonly<Record<string, string>>

/** The operations that the store needs. Each kind of driver has an adapter to them. */
export interface Database {
  /** Whether all work is part of a transaction of the application, and committed only when it commits. */
  readonly isInTransaction: boolean
  /**
   * Runs one statement outside a transaction, in one round trip.
   *
   * @throws the failure, within the deadline.
   */
  ask<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs work in a transaction and commits it, all of it or nothing.
   *
   * @throws the first failure, within the deadline. Nothing is saved then, and nothing more is sent.
   */
  transact<T>(deadline: Deadline, settings: Settings, work: (transaction: Transaction) => Promise<T>): Promise<T>
}

/** Returns the commands that apply settings: drivers allow several in one text. */
export const toCommands = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `SET LOCAL ${name} = '${value.replaceAll("'", "''")}'`)
    .join('; ')
