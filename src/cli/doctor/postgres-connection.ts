import { createPool } from '../postgres.ts'

/** Where the tables are. */
export interface Place {
  readonly schema: string
  /** Whether the server has Citus. */
  readonly isDistributed: boolean
}

/** Runs one statement and returns its rows. */
export type Ask = <Row>(text: string, ...values: readonly unknown[]) => Promise<readonly Row[]>

export interface Connection {
  /** Runs a statement by itself, in one round trip. For what locks no table. */
  readonly ask: Ask
  /**
   * Runs a statement in a transaction that is rolled back, so that it neither changes nor locks anything for long.
   *
   * @throws after a short wait for a lock, with the SQLSTATE 55P03.
   */
  readonly attempt: Ask
  close(): Promise<void>
}

/** The role of the server may have any time limits, or none. */
const BEGIN = "BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '20s'"

/** @throws when the database cannot be reached. */
export async function connectToPostgres(url: string): Promise<Connection> {
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    const ask: Ask = async (text, ...values) => (await client.query(text, values)).rows as never
    return {
      ask,
      async attempt(text, ...values) {
        await client.query(BEGIN)
        try {
          return await ask(text, ...values)
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
