import { fromBridge, type PostgresBridge, type PostgresTransaction } from './bridge.ts'
import type { Database } from './database.ts'

/** The `sql` of postgres.js: `postgres('postgres://…')`. */
export interface PostgresJs extends PostgresJsTransaction {
  begin(work: (transaction: PostgresJsTransaction) => Promise<unknown>): PromiseLike<unknown>
}

/** A transaction of postgres.js. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: never[], options?: { prepare?: boolean }): PromiseLike<readonly unknown[]>
}

/**
 * Adapts postgres.js, which pipelines automatically. Statements need no name, because postgres.js identifies prepared
 * statements by their SQL.
 */
export function fromPostgresJs(sql: PostgresJs, prepare: boolean): Database {
  const within = (transaction: PostgresJsTransaction): PostgresTransaction => ({
    query: async (text, values) => ({ rows: await transaction.unsafe(text, values as never[], { prepare }) }),
  })
  const transaction: PostgresBridge['transaction'] = work => begin(sql, opened => work(within(opened)))
  return fromBridge({ ...within(sql), transaction }, true)
}

/**
 * If `work` fails, postgres.js sends ROLLBACK. On a closed connection, sending it would end the process
 * (https://github.com/porsager/postgres/issues/1208). If the connection is closed, `sql.begin` has already rejected, so
 * this function leaves the promise of `work` unsettled, and no ROLLBACK is sent.
 */
async function begin<T>(sql: PostgresJs, work: (transaction: PostgresJsTransaction) => Promise<T>): Promise<T> {
  let isSettled = false
  // The result is not returned through postgres.js, which would await each element of an array.
  let result: unknown
  try {
    await sql.begin(async transaction => {
      result = await work(transaction).catch(async error => {
        await new Promise(resolve => setTimeout(resolve))
        if (isSettled) await new Promise(() => {})
        throw error
      })
    })
  } finally {
    isSettled = true
  }
  return result as T
}
