import type { PostgresTransaction } from './application-transaction.ts'
import {
  type Answer,
  apply,
  type BoundStatement,
  bind,
  createSequence,
  type Database,
  isRead,
  type Transaction,
  toCommands,
  WAIT_FOR_DISK,
} from './connection.ts'
import { MOST_IDLE, repeat } from './failures.ts'

/**
 * A bridge to any other driver, query builder or ORM, which you can write in a few lines. PGlite, which runs PostgreSQL
 * in your process, already has these methods.
 *
 * @example <caption>Kysely</caption>
 * import { CompiledQuery, type Kysely } from 'kysely'
 *
 * const within = (db: Pick<Kysely<unknown>, 'executeQuery'>): PostgresTransaction => ({
 *   query: (text, values) => db.executeQuery(CompiledQuery.raw(text, values)),
 * })
 * const toBridge = (db: Kysely<unknown>): PostgresBridge => ({
 *   ...within(db),
 *   transaction: work => db.transaction().execute(transaction => work(within(transaction))),
 * })
 */
export interface PostgresBridge extends PostgresTransaction {
  /** Runs a statement outside a transaction, on any connection. */
  query(text: string, values: unknown[]): PromiseLike<Answer>
  /**
   * Calls `work` in a transaction. Commits if `work` resolves, and rolls back if `work` rejects. The returned promise
   * settles only after the commit or the rollback.
   */
  transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): PromiseLike<T>
}

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

export function fromBridge(bridge: PostgresBridge, isPipelined = false): Database {
  let checked: Promise<void> | undefined
  const check = () => {
    checked ??= rejectTransaction(bridge).catch(error => {
      checked = undefined
      throw error
    })
    return checked
  }

  return {
    isInTransaction: false,

    ask: (deadline, statement, ...parameters) =>
      repeat(deadline, MOST_IDLE, async attempt => {
        await deadline.wait(check())
        attempt.isUntouched = isRead(statement)
        const { text, values = [] } = bind(statement, parameters)
        return (await deadline.wait(bridge.query(text, values))).rows as never
      }),

    transact: (deadline, { transaction_isolation, ...settings }, work) =>
      repeat(deadline, MOST_IDLE, async attempt => {
        await deadline.wait(check())
        attempt.isUntouched = true
        const token = crypto.randomUUID()
        const outcome: { result?: Awaited<ReturnType<typeof work>>; isUndone?: boolean } = {}
        const running = bridge.transaction(async ({ query }) => {
          const send = ({ text, values = [] }: BoundStatement) => query(text, values)
          const sequence = createSequence(send, { deadline, isPipelined })
          const begun = sequence.add({ text: toCommands({ transaction_isolation: transaction_isolation as string }) })
          begun.then(() => {
            attempt.isUntouched = false
          }, ignore)
          apply(sequence, isPipelined ? settings : { ...settings, [TOKEN]: token }, WAIT_FOR_DISK)
          outcome.result = await work(isPipelined ? sequence : guarded(sequence, token))
          await sequence.allAnswered()
          if (sequence.hasChanges()) return
          outcome.isUndone = true
          throw new Error('The transaction changes nothing, so it is rolled back')
        })
        try {
          await deadline.wait(running)
        } catch (error) {
          if (!outcome.isUndone) throw error
        }
        return outcome.result as Awaited<ReturnType<typeof work>>
      }),
  }
}

/** A setting that has a value only within the store's own transaction. */
const TOKEN = 'domain_registration.transaction'

/**
 * A driver may send a statement after it has rolled back the transaction, because of a time limit of its own. So each
 * statement that gets its rows in an array checks that it runs in the transaction for which it was made. Otherwise the
 * array is NULL, and nothing changes.
 *
 * The others may be committed alone: they make changes due whose time is implausible, or note that there is a monitor.
 * On Citus, inserts have no array, so there a late insert of a name is not prevented.
 */
function guarded({ ask, change }: Transaction, token: string): Transaction {
  return {
    ask,
    change: (statement, ...values) => {
      const isOurs = `current_setting('${TOKEN}', true) = $${values.length + 1}::text`
      const text = statement.text.replace(/\$1(?=::\w+\[\])/g, `(CASE WHEN ${isOurs} THEN $1 END)`)
      return text === statement.text ? change(statement, ...values) : change({ ...statement, text }, ...values, token)
    },
  }
}

/**
 * Rejects a bridge over a transaction, such as Drizzle's `tx`, because changes would be pushed to the monitor before
 * they are committed. To detect such a bridge, one statement sets a transaction-local value, and a second statement
 * reads it. Outside a transaction, the value is lost after the first statement.
 */
async function rejectTransaction(bridge: PostgresBridge): Promise<void> {
  await bridge.query(`SELECT set_config('${TOKEN}', 'open', true)`, [])
  const { rows } = await bridge.query(`SELECT current_setting('${TOKEN}', true) AS state`, [])
  if ((rows[0] as { state?: unknown } | undefined)?.state !== 'open') return
  throw new TypeError(
    'The option "database" is a bridge whose "query" runs in a transaction. For your own transaction, pass an ' +
      'object with only "query"; otherwise create the bridge from the pool',
  )
}

function ignore(): void {}
