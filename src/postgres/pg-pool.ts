import { createDeadline, type Deadline, TimeLimitError } from '../time/deadline.ts'
import { createSequence, type Database, toCommands } from './database.ts'
import { hasCode } from './retry.ts'
import { type Answer, type BoundStatement, bind } from './statement.ts'

/**
 * A `Pool` of `pg`. With `new Pool({ pipeline: true, … })`, a call takes two round trips.
 */
export interface PostgresPool {
  /** May return a promise of the client instead of calling `callback`. */
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): unknown
  /** Only clients have this method, so the types do not accept a client as a pool. A client is a single connection. */
  escapeIdentifier?: never
}

/** A client of a {@link PostgresPool}. */
export interface PostgresClient {
  /** Whether the client sends queries without waiting for the previous response. */
  readonly pipeline?: boolean
  query(query: BoundStatement): PromiseLike<Answer>
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
  '25006', // read_only_sql_transaction: the server has become a standby
  '26000', // invalid_sql_statement_name: somebody has deallocated our prepared statements
  '42P05', // duplicate_prepared_statement: a pooler has swapped the session
  '0A000', // feature_not_supported: the cached plan must not change its result type
])

export function fromPgPool(pool: PostgresPool, preparedStatements: boolean): Database {
  const send = (client: PostgresClient, query: BoundStatement) =>
    inOnePacket(client, preparedStatements ? query : { ...query, name: '' })

  return {
    isInTransaction: false,

    async ask(deadline, statement, ...values) {
      const { client, giveBack } = await acquire(pool, deadline)
      try {
        const { rows } = await deadline.wait(send(client, bind(statement, values)))
        giveBack()
        return rows as never
      } catch (error) {
        giveBack(toError(error))
        throw error
      }
    },

    async transact(deadline, settings, work) {
      const { client, giveBack } = await acquire(pool, deadline)
      const isPipelined = client.pipeline === true
      const sequence = createSequence(query => send(client, query), { deadline, isPipelined })
      try {
        void sequence.add({ text: `BEGIN; ${toCommands(settings)}` })
        const result = await deadline.wait(work(sequence))
        const end = sequence.hasChanges() ? 'COMMIT' : 'ROLLBACK'
        const { command } = await deadline.wait(sequence.add({ text: end }))
        // PostgreSQL responds to the COMMIT of a failed transaction with the tag ROLLBACK, not with an error.
        if (command !== end) throw new Error('The transaction was rolled back')
        giveBack()
        return result
      } catch (cause) {
        sequence.end()
        giveBack((await isRolledBack(client, cause)) ? undefined : toError(cause))
        throw cause
      }
    },
  }
}

async function acquire(pool: PostgresPool, deadline: Deadline) {
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
 * Corks the stream until the running code has sent all its queries, so that they leave in one packet. Sending a packet
 * for each query would take longer than all other work of the client.
 */
function inOnePacket(client: PostgresClient, query: BoundStatement): PromiseLike<Answer> {
  const stream = client.connection?.stream
  if (stream?.cork && stream.uncork) {
    stream.cork()
    process.nextTick(() => stream.uncork?.())
  }
  return client.query(query)
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

function ignore(): void {}

const toError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))
