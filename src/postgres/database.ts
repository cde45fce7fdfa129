import type { Deadline } from '../deadline.ts'

/** One SQL statement with parameters, prepared once on each connection. */
export interface Statement<Row = never> {
  readonly name: string
  readonly text: string
  /** Only a type: what a row of the answer is. */
  readonly row?: Row
}

/**
 * Sends a statement within a transaction. Statements that are sent without waiting in between go out together, if the
 * driver can; the answers are those of one after the other.
 */
export type Send = <Row>(statement: Statement<Row>, ...values: readonly unknown[]) => Promise<readonly Row[]>

/** Settings of the server for one transaction: values by name. */
export type Settings = Readonly<Record<string, string>>

/** What the store needs of a driver; one adapter makes it of each. */
export interface Database {
  /** Whether all work is part of one transaction of the host, so that nothing is committed until the host commits. */
  readonly isInHostTransaction: boolean
  /**
   * Runs one statement by itself, in one round trip.
   *
   * @throws what it failed with, within the deadline.
   */
  ask<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs a transaction in READ COMMITTED: all that is sent is committed, or nothing. It goes out in two parts, the
   * second with the `COMMIT`.
   *
   * @throws what failed first, within the deadline. Nothing is saved then.
   */
  transact<Findings, T>(deadline: Deadline, settings: Settings, work: Work<Findings, T>): Promise<T>
}

export interface Work<Findings, T> {
  /**
   * Sends what is to be known first, all before it waits for any answer: the `BEGIN` may not have gone through yet, so
   * that nothing may be sent here that does harm outside a transaction.
   */
  find(send: Send): Promise<Findings>
  /**
   * Whether nothing that `find` has sent has changed anything. If `save` sends nothing either, a driver may roll back
   * in place of committing, which waits for no disk.
   */
  leavesNothing?(findings: Findings): boolean
  /**
   * Sends what is to be saved, once the `BEGIN` has gone through and all is found. Waits for no answer: a failure of
   * any statement rejects the whole.
   */
  save(findings: Findings, send: Send): T
}

/**
 * For drivers that open the transaction themselves. The server refuses it where a statement has been made under
 * another level already.
 */
export const READ_COMMITTED: Settings = { transaction_isolation: 'read committed' }

/**
 * Commands that set them all, in as few texts as may be, for drivers that send a text without parameters as it is.
 *
 * @param first What comes before them.
 */
export function toTexts(settings: Settings, first: readonly string[] = []): string[] {
  const commands = [...first, ...toCommands(settings)]
  // Citus sends the whole text that a SET stands in to its workers, once for each SET in it.
  return 'citus.propagate_set_commands' in settings ? commands : [commands.join('; ')]
}

export const toCommand = (settings: Settings): string => toCommands(settings).join('; ')

/**
 * SET and not `SELECT set_config(…)`, which has to be planned, and which Citus does not pass on to its workers.
 */
export const toCommands = (settings: Settings): string[] =>
  Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value.replaceAll("'", "''")}'`)
