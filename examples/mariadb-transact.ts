/**
 * Transactions for mariadb-store.ts. Each transaction has a time limit, and is retried after a conflict with another
 * one.
 */
import type { Pool } from 'mysql2/promise'

/**
 * Sends a statement, and resolves to its rows. Arrays among the values are sent as JSON. If one of the arrays is empty,
 * nothing is sent.
 */
// biome-ignore lint/suspicious/noExplicitAny: the statement determines the type of a row
export type Send = (sql: string, ...values: (string | number | readonly object[])[]) => Promise<any[]>

/** Errors after which nothing was saved: ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK. */
const CONFLICTS = [1205, 1213]
/** Milliseconds. */
const LONGEST_PAUSE = 50
/** Milliseconds to wait for the response to a COMMIT. */
const GRACE = 1000

interface TransactionOptions {
  /** In milliseconds. */
  readonly timeLimit?: number
  readonly isolation?: 'READ COMMITTED' | 'REPEATABLE READ'
}

export type Transact = ReturnType<typeof createTransact>

export const createTransact = (database: Pool) =>
  async function transact<T>(
    work: (send: Send) => Promise<T>,
    { timeLimit = 10_000, isolation = 'READ COMMITTED' }: TransactionOptions = {},
  ): Promise<T> {
    const end = performance.now() + timeLimit
    for (;;) {
      try {
        return await attempt(database, work, end, isolation)
      } catch (error) {
        const pause = Math.random() * LONGEST_PAUSE
        const isConflict = CONFLICTS.includes(Number((error as { errno?: number }).errno))
        if (!isConflict || performance.now() + pause > end) throw error
        await new Promise(resolve => setTimeout(resolve, pause))
      }
    }
  }

async function attempt<T>(
  database: Pool,
  work: (send: Send) => Promise<T>,
  end: number,
  isolation: string,
): Promise<T> {
  const opening = database.getConnection()
  const connection = await inTime(end, opening).catch(error => {
    opening.then(late => late.release()).catch(() => {})
    throw error
  })
  let isOver = false
  /**
   * Work that timed out may still be running after the rollback, when each further statement would be committed
   * separately.
   */
  function requireTransaction(): void {
    if (isOver) throw new Error('The transaction is over')
  }
  const send: Send = async (sql, ...values) => {
    requireTransaction()
    if (values.some(value => Array.isArray(value) && value.length === 0)) return []
    const sent = values.map(value => (typeof value === 'object' ? JSON.stringify(value, toText) : value))
    const [rows] = await connection.execute(sql, sent)
    return Array.isArray(rows) ? rows : []
  }
  async function run(): Promise<T> {
    await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
    requireTransaction()
    await connection.beginTransaction()
    return work(send)
  }
  try {
    const result = await inTime(end, run())
    if (performance.now() >= end) throw new Error('No time is left to commit')
    // Only the response to COMMIT shows whether the transaction was saved.
    await inTime(end + GRACE, connection.commit())
    connection.release()
    return result
  } catch (error) {
    isOver = true
    await inTime(end, connection.rollback()).then(
      () => connection.release(),
      () => {
        connection.destroy()
        // The connection may still wait for a lock, and hold other locks.
        database.query('KILL ?', [connection.threadId]).catch(() => {})
      },
    )
    throw error
  }
}

/** MariaDB rejects unpaired surrogates. */
const toText = (_: string, value: unknown) =>
  typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value

function inTime<T>(end: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('MariaDB did not respond in time'))
    const timer = setTimeout(giveUp, Math.max(0, end - performance.now()))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
