import type { Deadline } from '../../time/deadline.ts'
import { isRead, TOKEN } from '../statements/sql.ts'
import { type Database, type PostgresAnswer, rowsOf } from './database.ts'
import { MOST_IDLE, repeat } from './failures.ts'
import { apply, bind, createSequence, ignore, toCommands, WAIT_FOR_DISK } from './sequence.ts'

/** Sends statements in a transaction of a {@link PostgresBridge}, or in your own transaction. */
export interface PostgresTransaction {
  /**
   * @param text The SQL, with `$1`, `$2` and so on for the values.
   * @param values Strings, numbers, booleans and `null`.
   */
  query(text: string, values: unknown[]): PromiseLike<PostgresAnswer>
  /**
   * A pool and a client of `pg` have this method, so the types do not accept them as a transaction. Pass an object with
   * only `query` instead.
   */
  connect?: never
}

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
  query(text: string, values: unknown[]): PromiseLike<PostgresAnswer>
  /**
   * Calls `work` in a transaction. Commits if `work` resolves, and rolls back if `work` rejects. The returned promise
   * settles only after the commit or the rollback.
   */
  transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): PromiseLike<T>
}

export function fromBridge(bridge: PostgresBridge, isPipelined = false): Database {
  let isChecked = false
  async function check(deadline: Deadline): Promise<void> {
    if (isChecked) return
    await deadline.wait(rejectTransaction(bridge))
    isChecked = true
  }

  return {
    isInTransaction: false,

    send: (deadline, statement, ...parameters) =>
      repeat(deadline, MOST_IDLE, async attempt => {
        await check(deadline)
        attempt.isUntouched = isRead(statement)
        const { text, values = [] } = bind(statement, parameters)
        return rowsOf(await deadline.wait(bridge.query(text, values)))
      }),

    transact: (deadline, { transaction_isolation, ...settings }, work) =>
      repeat(deadline, MOST_IDLE, async attempt => {
        await check(deadline)
        attempt.isUntouched = true
        const token = isPipelined ? null : crypto.randomUUID()
        const outcome: { result?: Awaited<ReturnType<typeof work>>; isUndone?: boolean } = {}
        const running = bridge.transaction(async ({ query }) => {
          const sequence = createSequence(({ text, values = [] }) => query(text, values), {
            deadline,
            isPipelined,
            token,
          })
          const begun = sequence.add({ text: toCommands({ transaction_isolation: transaction_isolation as string }) })
          begun.then(() => {
            attempt.isUntouched = false
          }, ignore)
          apply(sequence, token === null ? settings : { ...settings, [TOKEN]: token }, WAIT_FOR_DISK)
          outcome.result = await work(sequence)
          await sequence.allAnswered()
          if (sequence.hasWritten()) return
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

/**
 * Rejects a bridge over a transaction, such as Drizzle's `tx`, because changes would be pushed to the monitor before
 * they are committed. To detect such a bridge, one statement sets a transaction-local value, and a second statement
 * reads it. Outside a transaction, the value is lost after the first statement.
 *
 * Both have a parameter, because postgres.js pipelines other statements behind one without parameters. In transaction
 * mode, PgBouncer before version 1.21 may lose a statement that is pipelined behind one outside a transaction.
 */
async function rejectTransaction(bridge: PostgresBridge): Promise<void> {
  await bridge.query("SELECT set_config($1, 'open', true)", [TOKEN])
  const answer = await bridge.query('SELECT current_setting($1, true) AS state', [TOKEN])
  if (rowsOf<{ state: unknown }>(answer)[0]?.state !== 'open') return
  throw new TypeError(
    'The option "database" is a bridge whose "query" runs in a transaction. For your own transaction, pass an ' +
      'object with only "query"; otherwise create the bridge from the pool',
  )
}
