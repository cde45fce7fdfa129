import { createPool } from '../database.ts'

/** The location of the tables. */
export interface Place {
  readonly schema: string
  /** Whether the server has Citus. */
  readonly isDistributed: boolean
}

/** Runs one statement and returns its rows. */
export type Ask = <Row>(text: string, ...values: readonly unknown[]) => Promise<readonly Row[]>

export interface Connection {
  /** Runs a single statement in one round trip. Only for statements that lock no table. */
  readonly ask: Ask
  /**
   * Calls `work` in a transaction that is then rolled back, so nothing changes, and locks are held only briefly.
   *
   * @throws An error with the SQLSTATE 55P03 if a lock does not become free within a second.
   */
  inTransaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The SQLSTATE for a lock that did not become free in time. */
export const LOCKED = '55P03'

/** Begins a transaction with its own time limits, because the role's time limits are unknown. */
const BEGIN = "BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '20s'"

/** @throws An error if the database cannot be reached. */
export async function connectToPostgres(url: string): Promise<Connection> {
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    const ask: Ask = async (text, ...values) => (await client.query(text, values)).rows as never
    return {
      ask,
      async inTransaction(work) {
        await client.query(BEGIN)
        try {
          return await work(ask)
        } finally {
          await client.query('ROLLBACK')
        }
      },
      async close() {
        client.release()
        await pool.end()
      },
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}
