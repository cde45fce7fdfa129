import { createDeadline, type Deadline, TimeLimitError } from '../time/deadline.ts'
import {
  type Answer,
  apply,
  type BoundStatement,
  createSequence,
  type Database,
  type Sequence,
  type Settings,
} from './connection.ts'

/** Sends statements in a transaction of a {@link PostgresBridge}, or in your own transaction. */
export interface PostgresTransaction {
  /**
   * @param text The SQL, with `$1`, `$2` and so on for the values.
   * @param values Strings, numbers, booleans and `null`.
   */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /**
   * A pool and a client of `pg` have this method, so the types do not accept them as a transaction. Pass an object with
   * only `query` instead.
   */
  connect?: never
}

/** A part of the package that has its own savepoints in a transaction. */
export type Part = 'store' | 'keys' | 'tables'

/*
 * Sends statements in the application's transaction, which must be in READ COMMITTED. The application passes its
 * transaction as an object with `query` and without `transaction`. Each call uses a savepoint, so a failed call leaves
 * the transaction as it was. The caller may commit or roll back as soon as the call times out. So the store ends its
 * savepoint before the time limit, and sends nothing afterwards.
 */

const SAVEPOINT = 'domain_registration'
const ROLLBACK = `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`
const RELEASE = `RELEASE SAVEPOINT ${SAVEPOINT}`

/**
 * The share of a call's time that its statements may take. The rest of the time is for rolling back to the savepoint.
 */
const WORKING_SHARE = 0.9
/** The share of the remaining time that one statement may take on the server. */
const STATEMENT_SHARE = 0.6

/**
 * @param part The part of the package that uses the transaction. Two stores on one transaction are rejected: their
 *   savepoints would overlap, so a failure of one would undo work of the other.
 */
export function fromTransaction(transaction: PostgresTransaction, part: Part): Database {
  const owner = crypto.randomUUID()
  let isOwned = false
  /** The most recent call. Calls run one after another, because savepoints cannot overlap. */
  let last: Promise<unknown> = Promise.resolve()

  async function own(deadline: Deadline): Promise<void> {
    const name = `domain_registration.${part}`
    const isFree = `coalesce(current_setting('${name}', true), '') IN ('', $1)`
    const text = `SELECT CASE WHEN ${isFree} THEN set_config('${name}', $1, true) END AS owner`
    const { rows } = await deadline.wait(transaction.query(text, [owner]))
    if ((rows[0] as { owner: unknown }).owner !== owner)
      throw new Error('Another store works in your transaction: create one store for each transaction')
    isOwned = true
  }

  async function inTurn<T>(deadline: Deadline, work: (turn: Turn) => Promise<T>): Promise<T> {
    const before = last
    // Here, the deadline limits only the wait for the previous call. A call that has begun enforces the limit itself,
    // and returns only after it has sent its last statement.
    const turn = Promise.resolve(deadline.wait(before)).then(async () => {
      if (!isOwned) await own(deadline)
      return inSavepoint(transaction, deadline, work)
    })
    last = Promise.allSettled([before, turn])
    return turn
  }

  return {
    isInTransaction: true,

    ask: (deadline, statement, ...values) =>
      inTurn(deadline, async ({ sequence }) => (await sequence.ask(statement, ...values)).rows as never),

    transact: (deadline, settings, work) =>
      inTurn(deadline, async ({ sequence, limit }) => {
        // Leaves out the limit for idle transactions: the application decides how long its transaction may be idle.
        const { transaction_isolation: _, idle_in_transaction_session_timeout: __, ...applied } = settings
        const before = await readSettings(sequence, Object.keys(applied))
        apply(sequence, { ...applied, statement_timeout: limit() })
        const result = await work(sequence)
        apply(sequence, before)
        await sequence.allAnswered()
        return result
      }),
  }
}

interface Turn {
  readonly sequence: Sequence
  /** Returns a value of `statement_timeout` for the next statements. */
  limit(): string
}

async function inSavepoint<T>(
  transaction: PostgresTransaction,
  deadline: Deadline,
  work: (turn: Turn) => Promise<T>,
): Promise<T> {
  const working = createDeadline(deadline.remaining() * WORKING_SHARE, deadline.timeLimit)
  let isOver = false
  let serverLimit = Number.POSITIVE_INFINITY
  function limit(): string {
    serverLimit = Math.max(1, Math.floor(working.remaining() * STATEMENT_SHARE))
    return String(serverLimit)
  }
  async function query({ text, values = [] }: BoundStatement): Promise<Answer> {
    if (serverLimit !== Number.POSITIVE_INFINITY && serverLimit > working.remaining())
      await transaction.query(`SET LOCAL statement_timeout = '${limit()}'`, [])
    if (isOver) throw new TimeLimitError('The time limit was reached before the next statement')
    return transaction.query(text, values)
  }
  // The server's limit for a statement also applies to a rollback, and may cancel it. Even a cancelled rollback ends
  // the limit, so a second one succeeds. Both are sent at once, so the server runs them after the current statement,
  // and before any later statement of the application.
  async function rollBack(): Promise<void> {
    const sent = [ROLLBACK, ROLLBACK].map(text => settle(transaction.query(text, [])))
    await deadline.wait(Promise.all(sent))
    if (working.remaining() > 0) await deadline.wait(settle(transaction.query(RELEASE, [])))
  }
  const sequence = createSequence(query, { deadline: working })
  await working.wait(sequence.add({ text: `SAVEPOINT ${SAVEPOINT}` }))
  let result: T
  try {
    result = await working.wait(work({ sequence, limit }))
    sequence.end()
  } catch (error) {
    isOver = true
    sequence.end()
    await rollBack()
    throw error
  }
  try {
    await deadline.wait(transaction.query(RELEASE, []))
  } catch (error) {
    // Without an answer, the savepoint may already be released, and a rollback would fail.
    if (!(error instanceof TimeLimitError)) await rollBack()
    throw error
  }
  return result
}

/** Ignores errors: the call already rejects with its own error. */
const settle = (answer: PromiseLike<unknown>): Promise<unknown> => Promise.resolve(answer).catch(ignore)

/**
 * Reads the application's settings, so that they can be restored. If they were not restored, the settings from SET
 * LOCAL would apply until the application's transaction ends.
 */
async function readSettings(sequence: Sequence, names: readonly string[]): Promise<Settings> {
  const columns = names.map(name => `current_setting('${name}', true) AS "${name}"`)
  const text = `SELECT ${["current_setting('transaction_isolation') AS isolation", ...columns].join(', ')}`
  const [row] = (await sequence.add({ text })).rows as [Record<string, string | null>]
  const { isolation, ...settings } = row
  // Under any other isolation level, a statement that waited for a lock does not see the rows that were committed
  // during the wait.
  if (isolation !== 'read committed')
    throw new Error(`Your transaction must be in READ COMMITTED; it is in ${isolation?.toUpperCase()}`)
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value ?? '']))
}

function ignore(): void {}
