import { createDeadline, type Deadline, TimeLimitError } from '../../time/deadline.ts'
import type { PostgresTransaction } from './bridge.ts'
import { type Database, type PostgresAnswer, type PostgresStatement, rowsOf, type Settings } from './database.ts'
import { apply, createSequence, type Sequence } from './sequence.ts'

/** A part of the package that has its own savepoints in a transaction. */
export type Part = 'store' | 'keys' | 'tables' | 'waiting'

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

/** The share of the rest of this time that one statement may take on the server. */
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
    const [row] = rowsOf<{ owner: unknown }>(await deadline.wait(transaction.query(text, [owner])))
    if (row?.owner !== owner)
      throw new Error('Another store works in your transaction: create one store for each transaction')
    isOwned = true
  }

  async function inTurn<T>(deadline: Deadline, work: Work<T>): Promise<T> {
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

    send: (deadline, statement, ...values) => inTurn(deadline, sequence => sequence.send(statement, ...values)),

    transact: (deadline, settings, work) =>
      inTurn(deadline, async (sequence, nextLimit) => {
        // Leaves out the limit for idle transactions: the application decides how long its transaction may be idle.
        const { transaction_isolation: _, idle_in_transaction_session_timeout: __, ...applied } = settings
        const before = await readSettings(sequence, Object.keys(applied))
        apply(sequence, { ...applied, statement_timeout: nextLimit() })
        const result = await work(sequence)
        apply(sequence, before)
        await sequence.allAnswered()
        return result
      }),
  }
}

/** @param nextLimit Returns the value of `statement_timeout` for the next statements. */
type Work<T> = (sequence: Sequence, nextLimit: () => string) => Promise<T>

async function inSavepoint<T>(transaction: PostgresTransaction, deadline: Deadline, work: Work<T>): Promise<T> {
  const working = createDeadline(deadline.remaining() * WORKING_SHARE, deadline.timeLimit)
  /** The server's limit for a statement, in milliseconds; 0 means no limit. */
  let limit = 0
  function nextLimit(): string {
    limit = Math.max(1, Math.floor(working.remaining() * STATEMENT_SHARE))
    return String(limit)
  }
  async function query({ text, values = [] }: PostgresStatement): Promise<PostgresAnswer> {
    // With the limit of earlier statements, the server might not cancel a late statement in time for the rollback.
    if (limit > working.remaining()) {
      await settle(transaction.query(`SET LOCAL statement_timeout = ${nextLimit()}`, []))
      if (working.remaining() === 0) throw new TimeLimitError('The time limit was reached before the next statement')
    }
    return transaction.query(text, values)
  }
  /**
   * The server's limit for a statement also applies to a rollback, and may cancel it. Even a cancelled rollback ends
   * the limit, so a second one succeeds.
   */
  async function rollBack(attempts = 2): Promise<void> {
    try {
      await deadline.wait(transaction.query(ROLLBACK, []))
    } catch (error) {
      if (error instanceof TimeLimitError) throw error
      if (attempts > 1 && deadline.remaining() > 0) await rollBack(attempts - 1)
    }
  }
  const sequence = createSequence(query, { deadline: working })
  await working.wait(sequence.add({ text: `SAVEPOINT ${SAVEPOINT}` }))
  let isReleasing = false
  try {
    const result = await working.wait(work(sequence, nextLimit))
    sequence.end()
    isReleasing = true
    await deadline.wait(transaction.query(RELEASE, []))
    return result
  } catch (error) {
    sequence.end()
    // Without an answer, the savepoint may already be released, and a rollback would fail.
    if (isReleasing && error instanceof TimeLimitError) throw error
    // A driver may refuse a statement while another one runs, which the server is about to cancel.
    await settle(deadline.wait(sequence.allAnswered(), deadline.remaining() / 2))
    await rollBack()
    if (working.remaining() > 0) await deadline.wait(settle(transaction.query(RELEASE, [])))
    throw error
  }
}

/** Ignores errors: the call already rejects with its own error. */
const settle = (answer: unknown): Promise<unknown> => Promise.resolve(answer).catch(() => {})

/**
 * Reads the application's settings, so that they can be restored. If they were not restored, the settings from SET
 * LOCAL would apply until the application's transaction ends.
 */
async function readSettings(sequence: Sequence, names: readonly string[]): Promise<Settings> {
  const columns = names.map(name => `current_setting('${name}', true) AS "${name}"`)
  const text = `SELECT ${["current_setting('transaction_isolation') AS isolation", ...columns].join(', ')}`
  const [row] = rowsOf<Record<string, string | null>>(await sequence.add({ text }))
  const { isolation, ...settings } = row ?? {}
  // Under any other isolation level, a statement that waited for a lock does not see the rows that were committed
  // during the wait.
  if (isolation !== 'read committed')
    throw new Error(`Your transaction must be in READ COMMITTED; it is in ${isolation?.toUpperCase()}`)
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value ?? '']))
}
