import type { Pool, PoolClient } from 'pg'
import type { PostgresPool } from '../../src/postgres/index.ts'

/** A pool whose statements wait where a test wants to do something in between. */
export interface HeldPool extends PostgresPool {
  /** How many statements it has sent. */
  readonly sent: number
}

/**
 * Wraps a pool without pipelining, so that a statement which waits keeps back all after it.
 *
 * @param before Runs before each statement, with its number from 0.
 */
export function holdStatements(pool: Pool, before: (statement: number) => Promise<void>): HeldPool {
  let sent = 0
  async function query(client: PoolClient, config: never) {
    await before(sent++)
    return client.query(config)
  }
  return {
    get sent() {
      return sent
    },
    async connect(callback) {
      const client = await pool.connect()
      callback(undefined, {
        query: config => query(client, config as never) as never,
        release: error => client.release(error),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      })
    },
  }
}

/** Waits until work is done, or waits itself for a lock that somebody holds. */
export async function untilDoneOrBlocked(pool: Pool, work: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = work.then(() => {
    isDone = true
  })
  while (!isDone) {
    const { rows } = await pool.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    )
    if (rows.length > 0) return
  }
  await done
}
