import type { Deadline } from '../deadline.ts'

/** One SQL statement with parameters, prepared once on each connection. */
export interface Statement<Row = never> {
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
 */
export type Send = <Row>(statement: Statement<Row>, ...values: readonly unknown[]) => Promise<Answer<Row>>

/** Settings of the server for one transaction, by name. */
export type Settings = Readonly<Record<string, string>>

/** The operations that the store needs. Each kind of driver has an adapter to them. */
export interface Database {
  /** Whether all work is part of a transaction of the host, and committed only when the host commits. */
  readonly isInHostTransaction: boolean
  /**
   * Runs one statement outside a transaction, in one round trip.
   *
   * @throws the failure, within the deadline.
   */
  ask<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs a transaction in READ COMMITTED, in two round trips: `BEGIN` and the statements of `find`, then those of
   * `save` and `COMMIT`. All of it is committed, or nothing.
   *
   * @throws the first failure, within the deadline. Nothing is saved then.
   */
  transact<Findings, T>(deadline: Deadline, settings: Settings, work: Work<Findings, T>): Promise<T>
}

export interface Work<Findings, T> {
  /**
   * Claims and looks up. It must send nothing that would do harm outside a transaction, because the `BEGIN` before it
   * may fail. What it sends before its first `await` goes out in one packet with the `BEGIN`, if the driver can.
   *
   * @param isPipelined Whether a statement can be sent before the one before is answered.
   */
  find(send: Send, isPipelined: boolean): Promise<Findings>
  /**
   * Tells whether the statements of `find` have changed nothing. If `save` sends none either, a driver may roll back
   * instead of committing: a rollback does not wait for the disk.
   */
  leavesNothing?(findings: Findings): boolean
  /**
   * Sends the changes, after the answers to `BEGIN` and to the look-ups. It need not wait for answers: a failure of any
   * statement rejects the transaction.
   */
  save(findings: Findings, send: Send): T
}

/**
 * For drivers that begin the transaction themselves. The server refuses it after a statement under another level.
 */
export const READ_COMMITTED: Settings = { transaction_isolation: 'read committed' }

/**
 * Returns the commands that apply settings, in as few texts as possible: drivers allow several commands in one text.
 *
 * @param first Commands to put before them.
 */
export function toTexts(settings: Settings, first: readonly string[] = []): string[] {
  const commands = [...first, ...toCommands(settings)]
  // For each SET in a text, Citus sends the whole text to its workers.
  return 'citus.propagate_set_commands' in settings ? commands : [commands.join('; ')]
}

export const toCommand = (settings: Settings): string => toCommands(settings).join('; ')

/**
 * Uses SET and not `SELECT set_config(…)`, which has to be planned and which Citus does not propagate to its workers.
 */
export const toCommands = (settings: Settings): string[] =>
  Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value.replaceAll("'", "''")}'`)
