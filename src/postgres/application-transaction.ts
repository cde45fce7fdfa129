import { createDeadline, type Deadline, TimeLimitError } from '../time/deadline.ts'
import {
  type Answer,
  apply,
  type BoundStatement,
  createSequence,
  type Database,
  hasCode,
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
 * The most recent call in each session, regardless of which store made it. Calls run one after another, because
 * savepoints cannot overlap.
 */
const lastTurn = new Map<string, Promise<unknown>>()

/** How many rollbacks to savepoints have been sent, in all sessions. */
let rollbacks = 0

export function fromTransaction(transaction: PostgresTransaction): Database {
  let session: string | undefined

  async function inTurn<T>(deadline: Deadline, work: (turn: Turn) => Promise<T>): Promise<T> {
    session ??= await deadline.wait(identify(transaction, deadline))
    const key = session
    const before = lastTurn.get(key)
    // Here, the deadline limits only the wait for the previous call. A call that has begun enforces the limit itself,
    // and returns only after it has sent its last statement.
    const turn = Promise.resolve(deadline.wait(before)).then(() => inSavepoint(transaction, deadline, work))
    const settled = Promise.allSettled([before, turn])
    lastTurn.set(key, settled)
    void settled.then(() => lastTurn.get(key) === settled && lastTurn.delete(key))
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
    rollbacks += 1
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
 * Identifies the session by its process ID, which is unique on a running server. So the session is recognized even if
 * its statements are sent through several objects.
 */
async function identify(transaction: PostgresTransaction, deadline: Deadline): Promise<string> {
  const text = `SELECT concat_ws(' ', pg_backend_pid(), inet_server_addr(), inet_server_port()) AS session`
  for (;;) {
    if (deadline.remaining() === 0) throw new TimeLimitError('The time limit was reached before the call began')
    const before = rollbacks
    try {
      const { rows } = await transaction.query(text, [])
      return (rows[0] as { session: string }).session
    } catch (error) {
      // A statement of another store may just have failed in that store's savepoint. When the timer below fires, the
      // other store has already sent its rollback.
      await new Promise(resolve => setTimeout(resolve))
      if (!hasCode(error, aborted) || rollbacks === before) throw error
    }
  }
}

/** The SQLSTATE in_failed_sql_transaction. */
const aborted = new Set(['25P02'])

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
