import { isFunction, optional, type Rules } from '../options.ts'
import { createDeadline, type Deadline, TimeLimitError, timeLimitRule } from '../time/deadline.ts'
import { fromTransaction, type Part, type PostgresTransaction } from './application-transaction.ts'
import {
  type Answer,
  apply,
  type BoundStatement,
  bind,
  createSequence,
  type Database,
  findCode,
  hasCode,
  isLost,
  type Statement,
  type Transaction,
  toCommands,
  WAIT_FOR_DISK,
} from './connection.ts'

/** The default time limit of a transaction, in milliseconds. */
export const DEFAULT_TRANSACTION_TIME_LIMIT = 10_000

/** A pool or driver of any supported kind. */
export type PostgresDriver = PostgresPool | PostgresJs | PostgresBridge | PostgresTransaction

/** Options for the connection to the database. */
export interface DriverOptions {
  /**
   * A `Pool` of `pg`, a `PGlite`, the `sql` of postgres.js or of Bun, a {@link PostgresBridge} to another driver, or
   * your own transaction (see {@link PostgresTransaction}). The session settings of your connections stay as they are:
   * stores change settings only within a transaction.
   */
  database: PostgresDriver
  /**
   * Whether `pg` and postgres.js use prepared statements, which each connection parses and plans once. Default `true`.
   * Set it to `false` behind a pooler that shares sessions and does not track prepared statements, such as PgBouncer in
   * transaction mode before 1.21 or with `max_prepared_statements = 0`. Calls then take longer.
   */
  preparedStatements?: boolean | undefined
}

/** The rules of the options that all functions of this folder accept. */
export const driverRules = {
  // {@link toDatabase} checks this option and says what is wrong.
  database: { holds: () => true, expected: 'a pool' },
  preparedStatements: { holds: optional(value => typeof value === 'boolean'), expected: 'true or false' },
  timeLimit: timeLimitRule,
} satisfies Rules

/**
 * @throws {TypeError} if the option `database` is not of a supported kind. So a mistake is found when the application
 *   starts.
 */
export function toDatabase({ database, preparedStatements = true }: DriverOptions, part: Part): Database {
  return explaining(adapt(database, preparedStatements, part))
}

function adapt(database: PostgresDriver, preparedStatements: boolean, part: Part): Database {
  const parts: Readonly<Record<string, unknown>> = Object(database)
  const has = (...methods: readonly string[]) => methods.every(method => isFunction(parts[method]))
  if (has('release') || parts.connectionParameters !== undefined) {
    throw new TypeError(
      'The option "database" must be a pool of pg, but is a single connection. For your own transaction, pass ' +
        '{ query: (text, values) => client.query(text, values) }',
    )
  }
  if (has('unsafe', 'savepoint')) {
    throw new TypeError(
      'The option "database" must be the sql of postgres.js, but is one of its transactions. Pass ' +
        '{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }',
    )
  }
  if (has('unsafe', 'begin')) return fromPostgresJs(database as PostgresJs, preparedStatements)
  if (has('connect')) return fromPgPool(database as PostgresPool, preparedStatements)
  if (has('query', 'transaction')) return fromBridge(database as PostgresBridge)
  if (has('query')) return fromTransaction(database as PostgresTransaction, part)
  throw new TypeError(
    'The option "database" must be a pool of pg, a PGlite, the sql of postgres.js, or an object with "query" and ' +
      '"transaction"',
  )
}

/** The SQLSTATEs of a missing schema, table, column, or unique constraint for `ON CONFLICT`. */
const missing = new Set(['3F000', '42P01', '42703', '42P10'])

/** Explains errors about missing tables or missing parts of tables. */
function explaining(database: Database): Database {
  function explain(error: unknown): never {
    const code = findCode(error, missing)
    if (code === undefined) throw error
    const message =
      'Tables are missing or differ from what this version needs: run migrate(), then "domain-registration doctor"'
    throw Object.assign(new Error(message, { cause: error }), { code })
  }
  return {
    ...database,
    ask: (...question) => database.ask(...question).catch(explain),
    transact: (...transaction) => database.transact(...transaction).catch(explain),
  }
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
 * A driver may send a statement after it has rolled back the transaction, because of a time limit of its own. Each
 * change checks that it runs in the transaction for which it was made. Otherwise the array that says which rows to
 * change is NULL, so nothing changes.
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
}

/** A client of a {@link PostgresPool}. */
export interface PostgresClient {
  /** Whether the client sends queries without waiting for the previous response. */
  readonly pipeline?: boolean
  query(query: BoundStatement): PromiseLike<Answer>
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

/** The SQLSTATEs of statements whose prepared form is of no use. The same statement succeeds without a name. */
const staleStatements = new Set([
  '26000', // invalid_sql_statement_name: somebody has deallocated our prepared statements
  '42P05', // duplicate_prepared_statement: a pooler has swapped the session
  '0A000', // feature_not_supported: the cached plan must not change its result type
])

/**
 * The SQLSTATEs after which the connection is closed, because these failures would recur in the same session, but
 * perhaps not in another one.
 */
const lastingFailures = new Set([
  ...staleStatements,
  '25006', // read_only_sql_transaction: the server has become a standby
])

interface Attempt {
  /** Whether statements may have names. */
  readonly isPrepared: boolean
  /** Whether a lost connection means that nothing was done. */
  isUntouched: boolean
}

/** How many idle connections of a pool may have died, if the pool does not say how many it has. */
const MOST_IDLE = 10

/**
 * Does on another connection what failed before it did anything: connections may have died while they were idle, and
 * may have lost their prepared statements.
 */
async function repeat<T>(deadline: Deadline, most: number, work: (attempt: Attempt) => Promise<T>): Promise<T> {
  let isPrepared = true
  for (let left = most; ; left -= 1) {
    const attempt = { isPrepared, isUntouched: false }
    try {
      return await work(attempt)
    } catch (error) {
      const isStale: boolean = isPrepared && hasCode(error, staleStatements)
      const isRepeatable = isStale || (left > 0 && attempt.isUntouched && isLost(error))
      if (!isRepeatable || deadline.remaining() === 0) throw error
      isPrepared &&= !isStale
    }
  }
}

const isRead = ({ text }: Statement<unknown>) => text.startsWith('SELECT')

export function fromPgPool(pool: PostgresPool, preparedStatements: boolean): Database {
  const mostIdle = () => Math.max(MOST_IDLE, pool.totalCount ?? 0)
  const send = (client: PostgresClient, query: BoundStatement, { isPrepared }: Attempt) =>
    inOnePacket(client, preparedStatements && isPrepared ? query : { ...query, name: '' })

  return {
    isInTransaction: false,

    ask: (deadline, statement, ...values) =>
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
          const end = sequence.hasChanges() ? 'COMMIT' : 'ROLLBACK'
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
