import { type Deadline, TimeLimitError } from '../deadline.ts'
import { apply, carryOut, type PostgresBridgeTransaction } from './bridge.ts'
import type { Database, Settings } from './database.ts'

/**
 * A transaction of yours, in READ COMMITTED: an object with `query` and without `transaction`. Others see registrations
 * once you commit. Each call uses a savepoint, so a call that fails leaves your transaction as it was.
 *
 * @example <caption>pg</caption>
 * const client = await pool.connect()
 * await client.query('BEGIN')
 * const store = createPostgresStore({ ...options, pool: { query: (text, values) => client.query(text, values) } })
 * await registerDomains(keyContext, body, store)
 * await client.query('COMMIT')
 */
export type PostgresHostTransaction = PostgresBridgeTransaction

/** The last call in each transaction, of whichever store. Calls run one after another: savepoints cannot overlap. */
const lastTurn = new WeakMap<PostgresHostTransaction, Promise<unknown>>()

export function fromHostTransaction(host: PostgresHostTransaction): Database {
  function inTurn<T>(deadline: Deadline, work: () => Promise<T>) {
    const turn = (lastTurn.get(host) ?? Promise.resolve()).then(() => inSavepoint(host, deadline, work))
    lastTurn.set(
      host,
      turn.catch(() => {}),
    )
    return deadline.wait(turn)
  }

  return {
    isInHostTransaction: true,

    async ask(deadline, { text }, ...values) {
      const { rows } = await inTurn(deadline, async () => host.query(text, [...values]))
      return rows as never
    },

    async transact(deadline, settings, work) {
      // The time that the host may be idle is its own affair, and exceeding it would end its session.
      const { idle_in_transaction_session_timeout: _, ...applied } = settings
      return inTurn(deadline, async () => {
        const before = await readSettings(host, Object.keys(applied))
        await apply(host, applied)
        const result = await carryOut(host, work)
        await apply(host, before)
        return result
      })
    },
  }
}

const SAVEPOINT = 'domain_registration'

async function inSavepoint<T>(host: PostgresHostTransaction, deadline: Deadline, work: () => Promise<T>): Promise<T> {
  // The call may have timed out while it waited for its turn.
  if (deadline.remaining() === 0) throw new TimeLimitError('No turn in time')
  await host.query(`SAVEPOINT ${SAVEPOINT}`, [])
  try {
    const result = await work()
    if (deadline.remaining() === 0) throw new TimeLimitError('Not done in time')
    await host.query(`RELEASE SAVEPOINT ${SAVEPOINT}`, [])
    return result
  } catch (error) {
    try {
      await host.query(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`, [])
      await host.query(`RELEASE SAVEPOINT ${SAVEPOINT}`, [])
    } catch {
      // The transaction has ended; the error below says why.
    }
    throw error
  }
}

/** Reads the host's settings, to restore them: SET LOCAL would last until the end of the host's transaction. */
async function readSettings(host: PostgresHostTransaction, names: readonly string[]): Promise<Settings> {
  const columns = names.map(name => `current_setting('${name}', true) AS "${name}"`)
  const text = `SELECT ${["current_setting('transaction_isolation') AS isolation", ...columns].join(', ')}`
  const [row] = (await host.query(text, [])).rows as [Record<string, string | null>]
  const { isolation, ...settings } = row
  // Under any other level a statement does not see rows that others committed while it waited for their lock.
  if (isolation !== 'read committed')
    throw new Error(`A transaction of yours must be in READ COMMITTED; it is in ${isolation?.toUpperCase()}`)
  return Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== null))
}
