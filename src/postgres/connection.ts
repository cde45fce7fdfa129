import { createDeadline, type Deadline, TimeLimitError } from '../deadline.ts'
import { hasCode } from './retry.ts'

/** What the store needs of a `pg` pool: `new Pool({ … })` has it. With `pipeline: true` a call takes two round trips. */
export interface PostgresPool {
  /** May return a promise of the client in place of calling back. */
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): unknown
}

/** A connection that a pool has lent out. */
export interface PostgresClient {
  /** Whether queries are sent without waiting for the answer to the one before. */
  readonly pipeline?: boolean
  query(query: Query): PromiseLike<Answer>
  /** Where `pg` writes to, and holds back each statement until it is complete. */
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void } }
  /** Gives the connection back; with an error, to be closed. */
  release(error?: Error): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What the store needs of PGlite, PostgreSQL within the process: `new PGlite('a-folder')` has it. */
export interface EmbeddedPostgres {
  query(text: string, values?: unknown[]): PromiseLike<Answer>
  transaction<T>(work: (transaction: EmbeddedTransaction) => Promise<T>): PromiseLike<T>
}

export interface EmbeddedTransaction {
  query(text: string, values?: unknown[]): PromiseLike<Answer>
  exec(text: string): PromiseLike<unknown>
}

interface Query {
  readonly text: string
  /** Under which the connection keeps the prepared statement; without it, it keeps none. */
  readonly name?: string
  readonly values?: unknown[]
}

interface Answer {
  readonly rows: readonly unknown[]
  /** The command tag's first word. */
  readonly command?: string
}

/** One SQL statement with parameters, prepared once on each connection. */
export interface Statement<Row = never> {
  readonly name: string
  readonly text: string
  /** Only a type: what a row of the answer is. */
  readonly row?: Row
}

/**
 * Sends a statement within a transaction. Statements that are sent without waiting in between go out together, if the
 * driver can; the answers are those of one after the other.
 */
export type Send = <Row>(statement: Statement<Row>, ...values: readonly unknown[]) => Promise<readonly Row[]>

/** Either of the drivers, as the store uses it. */
export interface Database {
  /**
   * Runs one statement by itself, in one round trip.
   *
   * @throws what it failed with, within the deadline. The connection is then closed.
   */
  ask<Row>(deadline: Deadline, statement: Statement<Row>, ...values: readonly unknown[]): Promise<readonly Row[]>
  /**
   * Runs a transaction: all that is sent is committed, or nothing. It goes out in two parts, the second with the `COMMIT`.
   *
   * @param opening SQL without parameters that runs first.
   * @throws what failed first, within the deadline. The connection is then given back clean, or closed.
   */
  transact<Findings, T>(deadline: Deadline, opening: string, work: Work<Findings, T>): Promise<T>
}

export interface Work<Findings, T> {
  /**
   * Sends what is to be known first, all before it waits for any answer: the `BEGIN` may not have gone through yet, so that
   * nothing may be sent here that does harm outside a transaction.
   */
  find(send: Send): Promise<Findings>
  /**
   * Sends what is to be saved, once the `BEGIN` has gone through and all is found. Waits for no answer: a failure of any
   * statement rejects the whole.
   */
  save(findings: Findings, send: Send): T
}

export interface DatabaseOptions {
  /**
   * Whether statements are sent under names, so that each connection parses and plans them once. Default true. With `false`
   * calls take longer, and work behind a pooler that hands each transaction another session and knows nothing of prepared
   * statements: PgBouncer in transaction mode before 1.21, or with `max_prepared_statements = 0`.
   */
  preparedStatements?: boolean | undefined
}

/** @throws {TypeError} for what is neither, so that a host learns of it when it starts. */
export function toDatabase(
  pool: PostgresPool | EmbeddedPostgres,
  { preparedStatements = true }: DatabaseOptions = {},
): Database {
  const { transaction, connect } = (pool ?? {}) as Partial<EmbeddedPostgres & PostgresPool>
  if (typeof transaction === 'function') return fromEmbedded(pool as EmbeddedPostgres)
  if (typeof connect === 'function') return fromPool(pool as PostgresPool, preparedStatements ? toQuery : toNameless)
  throw new TypeError('The option "pool" must be a pool of pg, or a PGlite')
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'
/** Milliseconds that an answer to `ROLLBACK` may take before the connection is closed instead. */
const ROLLBACK_TIME_LIMIT = 1000

/** SQLSTATE of what a session answers again and again, while another one may do better: it is closed, not given back. */
const lastingFailures = new Set([
  '25006', // read_only_sql_transaction: the server has become a standby
  '26000', // invalid_sql_statement_name: somebody has thrown our prepared statements away
  '42P05', // duplicate_prepared_statement: a pooler has swapped the session
  '0A000', // feature_not_supported: the cached plan must not change its result type
])

function fromPool(pool: PostgresPool, toQuery: ToQuery): Database {
  return {
    async ask(deadline, statement, ...values) {
      const { client, giveBack } = await acquire(pool, deadline)
      try {
        const { rows } = await deadline.wait(client.query(toQuery(statement, values)))
        giveBack()
        return rows as never
      } catch (error) {
        giveBack(toError(error))
        throw error
      }
    },

    async transact(deadline, opening, work) {
      const { client, giveBack } = await acquire(pool, deadline)
      const queue = createQueue(query => client.query(query), toQuery, client.pipeline === true)
      try {
        const begun = inOnePacket(client, () =>
          Promise.all([queue.add({ text: `${BEGIN}; ${opening}` }), work.find(queue.send)]),
        )
        const [, findings] = await deadline.wait(begun)
        const { result, commit } = inOnePacket(client, () => ({
          result: work.save(findings, queue.send),
          commit: queue.add({ text: 'COMMIT' }),
        }))
        await deadline.wait(queue.allAnswered())
        // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, and calls that no error.
        if ((await commit).command !== 'COMMIT') throw new Error('The transaction was rolled back')
        giveBack()
        return result
      } catch (error) {
        const cause = queue.failure() ?? error
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
    // One that comes too late goes straight back.
    connecting.then(({ giveBack }) => giveBack(), ignore)
    throw error
  }
}

/** Writes several statements at once where it can: a packet for each costs the client more than anything else it does. */
function inOnePacket<T>({ connection }: PostgresClient, send: () => T): T {
  connection?.stream?.cork?.()
  try {
    return send()
  } finally {
    connection?.stream?.uncork?.()
  }
}

/**
 * With a callback, since a server may end a connection in the same breath as it opens it: a promise hears of it too late.
 * A pool that knows only promises gives one all the same.
 */
function connect(pool: PostgresPool) {
  return new Promise<{ client: PostgresClient; giveBack: (error?: Error) => void }>((resolve, reject) => {
    let isLent = false
    function lend(client: PostgresClient | undefined): void {
      if (isLent || !client) return
      isLent = true
      // A connection that is cut tells so twice: to its queries, and with an event that would end the process.
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

function fromEmbedded(embedded: EmbeddedPostgres): Database {
  return {
    async ask(deadline, { text }, ...values) {
      return (await deadline.wait(embedded.query(text, [...values]))).rows as never
    },

    async transact(deadline, opening, work) {
      const running = embedded.transaction(async transaction => {
        // Its turn may come when nobody waits any longer.
        if (deadline.remaining() === 0) throw new TimeLimitError('No turn in time')
        await transaction.exec(opening)
        const queue = createQueue(({ text, values = [] }) => transaction.query(text, values), toNameless, false)
        try {
          const result = work.save(await work.find(queue.send), queue.send)
          await queue.allAnswered()
          return result
        } catch (error) {
          throw queue.failure() ?? error
        }
      })
      return deadline.wait(running)
    },
  }
}

/** The statements of one transaction, in order. */
function createQueue(query: (query: Query) => PromiseLike<Answer>, toQuery: ToQuery, isPipelined: boolean) {
  const answers: Promise<Answer>[] = []
  let failure: unknown

  function add(next: Query): Promise<Answer> {
    // `pg` without pipelining has a queue of its own, but means to give it up.
    const previous = isPipelined ? undefined : answers.at(-1)
    const answer = previous ? previous.then(() => query(next)) : Promise.resolve(query(next))
    answer.catch((error: unknown) => {
      failure ??= error
    })
    answers.push(answer)
    return answer
  }

  return {
    add,
    send: ((statement, ...values) => {
      const rows = add(toQuery(statement, values)).then(answer => answer.rows)
      // What is saved is not waited for one by one.
      rows.catch(ignore)
      return rows
    }) as Send,
    /** Rejects with what failed first; all after it only say that the transaction is aborted. */
    async allAnswered() {
      for (const answer of answers) await answer
    },
    failure: () => failure,
  }
}

type ToQuery = (statement: Statement<unknown>, values: readonly unknown[]) => Query

/** Copied, since drivers want an array that they could change. */
const toQuery: ToQuery = ({ name, text }, values) => ({ name, text, values: [...values] })
const toNameless: ToQuery = ({ text }, values) => ({ text, values: [...values] })

function ignore(): void {}

const toError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))
