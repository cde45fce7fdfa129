import { createDeadline, type Deadline, TimeLimitError } from '../../time/deadline.ts'
import { isRead } from '../statements/sql.ts'
import type { Database, PostgresAnswer, PostgresStatement } from './database.ts'
import { type Attempt, hasCode, MOST_IDLE, repeat, staleStatements } from './failures.ts'
import { bind, createSequence, ignore, toCommands, WAIT_FOR_DISK } from './sequence.ts'

/**
 * A `Pool` of `pg`. With `new Pool({ pipeline: true, … })`, a call takes two round trips.
 */
export interface PostgresPool {
  /** May return a promise of the client instead of calling `callback`. */
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): unknown
  /** Only clients have this method, so the types do not accept a client as a pool. A client is a single connection. */
  escapeIdentifier?: never
  /** How many connections the pool has. */
  readonly totalCount?: number
  /** How many of them nobody uses. */
  readonly idleCount?: number
}

/** A client of a {@link PostgresPool}. */
export interface PostgresClient {
  /** Whether the client sends queries without waiting for the previous response. */
  readonly pipeline?: boolean
  query(query: PostgresStatement): PromiseLike<PostgresAnswer>
  /** Returns `T` or `E` if the connection is in a transaction. */
  getTransactionStatus?(): unknown
  /** The stream that `pg` writes to. */
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void } }
  /** Returns the client to the pool. If an error is passed, closes the client instead. */
  release(error?: Error): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** How many milliseconds to wait for the response to `ROLLBACK`. Without a response, the connection is closed. */
const ROLLBACK_TIME_LIMIT = 1000

/**
 * The SQLSTATEs after which the connection is closed, because these failures would recur in the same session, but
 * perhaps not in another one.
 */
const lastingFailures = new Set([
  ...staleStatements,
  '25006', // read_only_sql_transaction: the server has become a standby
])

export function fromPgPool(pool: PostgresPool, preparedStatements: boolean): Database {
  const mostIdle = () => Math.max(MOST_IDLE, pool.totalCount ?? 0)
  const isOnlyOneInUse = () => (pool.totalCount ?? 0) - (pool.idleCount ?? 0) <= 1
  function send(client: PostgresClient, query: PostgresStatement, { isPrepared }: Attempt) {
    if (!isOnlyOneInUse()) sendInOnePacket(client)
    return client.query(preparedStatements && isPrepared ? query : { ...query, name: '' })
  }

  return {
    isInTransaction: false,

    send: (deadline, statement, ...values) =>
      repeat(deadline, mostIdle(), async attempt => {
        const { client, giveBack } = await acquire(pool, deadline)
        attempt.isUntouched = isRead(statement)
        try {
          const { rows } = await deadline.wait(send(client, bind(statement, values), attempt))
          giveBack()
          return rows as never
        } catch (error) {
          giveBack(toError(error))
          throw error
        }
      }),

    transact: (deadline, settings, work) =>
      repeat(deadline, mostIdle(), async attempt => {
        const { client, giveBack } = await acquire(pool, deadline)
        const isPipelined = client.pipeline === true
        const sequence = createSequence(query => send(client, query, attempt), { deadline, isPipelined })
        try {
          const begun = sequence.add({ text: `BEGIN; ${toCommands(settings)}; SELECT ${WAIT_FOR_DISK}` })
          const result = await deadline.wait(work(sequence))
          // Before the COMMIT is sent, it must be known that the connection was alive.
          await deadline.wait(begun)
          const end = sequence.hasWritten() ? 'COMMIT' : 'ROLLBACK'
          const { command } = await deadline.wait(sequence.add({ text: end }))
          // PostgreSQL responds to the COMMIT of a failed transaction with the tag ROLLBACK, not with an error.
          if (command !== end) throw new Error('The transaction was rolled back')
          giveBack()
          return result
        } catch (cause) {
          attempt.isUntouched = !sequence.isAnswered()
          sequence.end()
          giveBack((await isRolledBack(client, cause)) ? undefined : toError(cause))
          throw cause
        }
      }),
  }
}

/**
 * Takes a client from the pool. A client that somebody has given back inside a transaction is closed: the store would
 * commit that transaction, or would lose its own changes with it.
 */
async function acquire(pool: PostgresPool, deadline: Deadline) {
  for (;;) {
    const lent = await acquireAny(pool, deadline)
    const status = lent.client.getTransactionStatus?.()
    if (status !== 'T' && status !== 'E') return lent
    lent.giveBack(new Error('A connection was given back to the pool inside a transaction'))
    if (deadline.remaining() === 0) throw new TimeLimitError('The time limit was reached before the call began')
  }
}

async function acquireAny(pool: PostgresPool, deadline: Deadline) {
  const connecting = connect(pool)
  try {
    return await deadline.wait(connecting)
  } catch (error) {
    // A client that arrives too late is returned to the pool.
    connecting.then(({ giveBack }) => giveBack(), ignore)
    throw error
  }
}

/**
 * Corks the stream until the running code has sent all its queries, so that they leave in one packet. With 100 callers
 * over HTTP, a call costs PostgreSQL a tenth less (`npm run bench -- postgres-load`). A call of 100 names that is
 * alone would take a fifteenth longer, because PostgreSQL would begin later (`npm run bench -- postgres`).
 */
function sendInOnePacket({ connection }: PostgresClient): void {
  const stream = connection?.stream
  if (!stream?.cork || !stream.uncork) return
  stream.cork()
  process.nextTick(() => stream.uncork?.())
}

/**
 * Takes a client from the pool, with a callback if the pool supports callbacks. The server may close a connection as
 * soon as it is open. With a promise, the listener for the resulting error would be added too late.
 */
function connect(pool: PostgresPool) {
  return new Promise<{ client: PostgresClient; giveBack: (error?: Error) => void }>((resolve, reject) => {
    let isLent = false
    function lend(client: PostgresClient | undefined): void {
      if (isLent || !client) return
      isLent = true
      // A lost connection also emits an error event. Without a listener, the event would end the process. The event can
      // be ignored, because the queries of the connection also fail.
      client.on('error', ignore)
      const giveBack = (error?: Error) => {
        client.removeListener('error', ignore)
        client.release(error)
      }
      resolve({ client, giveBack })
    }
    const promise = pool.connect((error, client) => (error ? reject(error) : lend(client)))
    Promise.resolve(promise as PromiseLike<PostgresClient | undefined> | undefined).then(lend, reject)
  })
}

async function isRolledBack(client: PostgresClient, cause: unknown): Promise<boolean> {
  if (cause instanceof TimeLimitError || hasCode(cause, lastingFailures)) return false
  try {
    await createDeadline(ROLLBACK_TIME_LIMIT).wait(client.query({ text: 'ROLLBACK' }))
    return true
  } catch {
    return false
  }
}

const toError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))
