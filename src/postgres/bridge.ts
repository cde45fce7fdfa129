import { createSequence, type Database, type Sequence, type Settings, toCommands } from './database.ts'
import { type Answer, type BoundStatement, bind } from './statement.ts'

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

/** The `sql` of postgres.js: `postgres('postgres://…')`. */
export interface PostgresJs extends PostgresJsTransaction {
  begin(work: (transaction: PostgresJsTransaction) => Promise<unknown>): PromiseLike<unknown>
}

/** A transaction of postgres.js. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: never[], options?: { prepare?: boolean }): PromiseLike<PostgresJsRows>
}

interface PostgresJsRows extends ReadonlyArray<unknown> {
  /** How many rows the statement inserted, updated or deleted. */
  readonly count?: number | null
}

/**
 * Adapts postgres.js, which pipelines automatically. Statements need no name, because postgres.js identifies prepared
 * statements by their SQL.
 */
export function fromPostgresJs(sql: PostgresJs, prepare: boolean): Database {
  const within = (transaction: PostgresJsTransaction): PostgresTransaction => ({
    async query(text, values) {
      const rows = await transaction.unsafe(text, values as never[], { prepare })
      return { rows, rowCount: rows.count }
    },
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
    checked ??= refuseTransaction(bridge).catch(error => {
      checked = undefined
      throw error
    })
    return checked
  }

  return {
    isInTransaction: false,

    async ask(deadline, statement, ...parameters) {
      await deadline.wait(check())
      const { text, values = [] } = bind(statement, parameters)
      return (await deadline.wait(bridge.query(text, values))).rows as never
    },

    async transact(deadline, { transaction_isolation, ...settings }, work) {
      await deadline.wait(check())
      const running = bridge.transaction(async ({ query }) => {
        const send = ({ text, values = [] }: BoundStatement) => query(text, values)
        const sequence = createSequence(send, { deadline, isPipelined })
        void sequence.add({ text: toCommands({ transaction_isolation: transaction_isolation as string }) })
        apply(sequence, settings)
        const result = await work(sequence)
        await sequence.allAnswered()
        return result
      })
      return deadline.wait(running)
    },
  }
}

/** Applies all settings in one statement, because each statement takes a round trip. */
export function apply(sequence: Sequence, settings: Settings): void {
  const calls = Object.keys(settings).map((name, index) => `set_config('${name}', $${index + 1}, true)`)
  void sequence.add({ text: `SELECT ${calls.join(', ')}`, values: Object.values(settings) })
}

/**
 * Rejects a bridge over a transaction, such as Drizzle's `tx`, because changes would be pushed to the monitor before
 * they are committed. To detect such a bridge, one statement sets a transaction-local value, and a second statement
 * reads it. Outside a transaction, the value is lost after the first statement.
 */
async function refuseTransaction(bridge: PostgresBridge): Promise<void> {
  const name = `domain_registration.transaction`
  await bridge.query(`SELECT set_config('${name}', 'open', true)`, [])
  const { rows } = await bridge.query(`SELECT current_setting('${name}', true) AS state`, [])
  if ((rows[0] as { state?: unknown } | undefined)?.state !== 'open') return
  throw new TypeError(
    'The option "database" is a bridge whose "query" runs in a transaction. For your own transaction, pass an ' +
      'object with only "query"; otherwise create the bridge from the pool',
  )
}
