import { type Finding, note, ok, wrong } from './finding.ts'
import type { Ask } from './postgres-connection.ts'

/** A wait for a lock is reported as wrong once it has lasted this many seconds. */
const NOTABLE_WAIT = 1
/**
 * An idle transaction with locks is reported after this many seconds, which is more than the default time limit of a
 * call.
 */
const LONGEST_IDLE = 10

interface Session {
  readonly pid: number
  readonly role: string | null
  readonly application: string
  readonly state: string | null
  readonly query: string
}

interface Wait {
  readonly waiting: Session
  readonly seconds: number
  /** The sessions that hold the lock; none if it is held by a prepared transaction, which has no session. */
  readonly holders: readonly Session[]
}

const toSession = (activity: string) => `json_build_object('pid', ${activity}.pid, 'role', ${activity}.usename,
  'application', ${activity}.application_name, 'state', ${activity}.state, 'query', left(${activity}.query, 200))`

/**
 * Selects the sessions that wait for a lock and already hold a lock of any mode on one of our tables. If a session
 * waits for a row, `pg_locks` shows which transaction it waits for, but not in which table. So the lock that the
 * session already holds identifies the table.
 */
const SELECT_WAITS = `
SELECT ${toSession('waiting')} AS waiting, extract(epoch FROM clock_timestamp() - lock.waitstart)::float8 AS seconds,
  (SELECT coalesce(json_agg(${toSession('holder')}), '[]') FROM pg_stat_activity AS holder
   WHERE holder.pid = ANY (pg_blocking_pids(lock.pid))) AS holders
FROM pg_locks AS lock JOIN pg_stat_activity AS waiting ON waiting.pid = lock.pid
WHERE NOT lock.granted AND EXISTS (
  SELECT FROM pg_locks AS held JOIN pg_class ON pg_class.oid = held.relation
  WHERE held.pid = lock.pid AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))
ORDER BY seconds DESC`

/** Yields a finding for each session that others wait for, the longest wait first. Locks no table. */
export async function* examineLocks(ask: Ask, schema: string): AsyncGenerator<Finding> {
  const all = await ask<Wait>(SELECT_WAITS, schema)
  const waits = all.filter(({ seconds }) => seconds >= NOTABLE_WAIT)
  const prepared = await ask<Prepared>(SELECT_PREPARED, schema, LONGEST_IDLE)
  for (const transaction of prepared) yield toPreparedFinding(transaction)
  if (waits.length + prepared.length === 0) return yield* examineIdle(ask, schema)
  const byHolder = new Map<number | undefined, { holder: Session | undefined; waits: Wait[] }>()
  const bySession = new Map(all.map(wait => [wait.waiting.pid, wait]))
  for (const wait of waits) {
    const holder = findCause(wait, bySession)
    if (!holder && prepared.length > 0) continue
    const group = byHolder.get(holder?.pid) ?? { holder, waits: [] }
    group.waits.push(wait)
    byHolder.set(holder?.pid, group)
  }
  for (const { holder, waits } of byHolder.values()) yield toFinding(holder, waits)
}

/**
 * Follows the chain of waiting sessions to the session that is not itself waiting. Returns nothing if a prepared
 * transaction is the cause.
 */
function findCause({ waiting, holders }: Wait, waits: ReadonlyMap<number, Wait>): Session | undefined {
  const others = new Map(waits)
  others.delete(waiting.pid)
  const [first] = holders
  const next = first && others.get(first.pid)
  return holders.find(({ pid }) => !waits.has(pid)) ?? (next ? findCause(next, others) : first)
}

interface Prepared {
  readonly gid: string
  readonly role: string
  readonly seconds: number
  /** The statement that ends the transaction. */
  readonly end: string
}

/**
 * Selects prepared transactions that have held locks on our tables for some seconds. A prepared transaction outlives
 * its session and a restart of the server, so no session owns its locks. But each transaction also locks its own ID,
 * and all locks of a transaction have the same virtual transaction. So the query first finds the lock on the ID, and
 * then the other locks with the same virtual transaction.
 */
const SELECT_PREPARED = `
SELECT prepared.gid, prepared.owner AS role, 'ROLLBACK PREPARED ' || quote_literal(prepared.gid) AS end,
  extract(epoch FROM max(clock_timestamp() - prepared.prepared))::float8 AS seconds
FROM pg_prepared_xacts AS prepared JOIN pg_locks AS own ON own.transactionid = prepared.transaction
  JOIN pg_locks AS lock ON lock.virtualtransaction = own.virtualtransaction
  JOIN pg_class ON pg_class.oid = lock.relation
WHERE prepared.database = current_database() AND own.pid IS NULL AND lock.pid IS NULL
  AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
  AND prepared.prepared <= clock_timestamp() - make_interval(secs => $2)
GROUP BY prepared.gid, prepared.owner`

function toPreparedFinding({ gid, role, seconds, end }: Prepared): Finding {
  const finding = `the prepared transaction "${gid}" of the role "${role}" has held locks for ${Math.floor(seconds)} s`
  const advice = 'If the coordinator no longer needs the transaction, run this (or COMMIT PREPARED) as its role:'
  return wrong('locks', finding, advice, [end])
}

/**
 * Selects sessions that are idle in a transaction and hold locks on our tables. Calls that waited for these locks may
 * have failed already, so perhaps no session is waiting now.
 */
const SELECT_IDLE = `
SELECT DISTINCT ON (holder.pid) ${toSession('holder')} AS holder,
  extract(epoch FROM clock_timestamp() - holder.state_change)::float8 AS seconds
FROM pg_locks AS lock JOIN pg_stat_activity AS holder ON holder.pid = lock.pid
  JOIN pg_class ON pg_class.oid = lock.relation
WHERE lock.mode IN ('RowShareLock', 'RowExclusiveLock') AND holder.state LIKE 'idle in transaction%'
  AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`

async function* examineIdle(ask: Ask, schema: string): AsyncGenerator<Finding> {
  const idle = await ask<{ holder: Session; seconds: number }>(SELECT_IDLE, schema)
  const long = idle.filter(({ seconds }) => seconds >= LONGEST_IDLE)
  for (const { holder, seconds } of long) {
    const finding = `${describe(holder)} has been idle for ${Math.floor(seconds)} s, and may have locked rows`
    yield note('locks', finding, toAdvice([holder]), [end(holder)])
  }
  if (long.length === 0) yield ok('locks', 'no session has waited a second for a lock')
}

const SELECT_HOLDERS = `
SELECT DISTINCT ON (holder.pid) ${toSession('holder')} AS holder
FROM pg_locks AS lock JOIN pg_stat_activity AS holder ON holder.pid = lock.pid
  JOIN pg_class ON pg_class.oid = lock.relation
WHERE lock.granted AND lock.locktype = 'relation'
  AND lock.mode LIKE ANY ('{Share%Lock,%ExclusiveLock}') AND lock.mode NOT LIKE 'Row%'
  AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`

/**
 * Yields a finding for each session that has locked a whole table. Used if the doctor could not lock a table, and no
 * other session has waited for long.
 */
export async function* findLockers(ask: Ask, schema: string): AsyncGenerator<Finding> {
  for (const { holder } of await ask<{ holder: Session }>(SELECT_HOLDERS, schema)) {
    yield wrong('locks', `a table is locked: ${describe(holder)} holds the lock`, toAdvice([holder]), [end(holder)])
  }
}

function toFinding(holder: Session | undefined, waits: readonly Wait[]): Finding {
  const [longest] = waits as [Wait]
  const whom = `${waits.length === 1 ? '1 session waits' : `${waits.length} sessions wait`} for a lock`
  const waiting = `the longest for ${Math.floor(longest.seconds)} s: ${describe(longest.waiting)}`
  if (!holder) {
    const advice = 'No session holds the lock: find the prepared transaction in pg_prepared_xacts, and end it'
    return wrong('locks', `${whom}, ${waiting}`, advice)
  }
  const finding = `${whom} that ${describe(holder)} holds, ${waiting}`
  return wrong('locks', finding, toAdvice([holder, longest.waiting]), [end(holder)])
}

function toAdvice(sessions: readonly Session[]): string {
  const right = sessions.some(({ query }) => query === '<insufficient privilege>')
    ? '. To see the queries: GRANT pg_read_all_stats TO the role of the doctor'
    : ''
  return `If nobody needs the transaction, end the session as a superuser or a member of pg_signal_backend${right}:`
}

const end = ({ pid }: Session) => `SELECT pg_terminate_backend(${pid})`

const describe = ({ pid, role, application, state, query }: Session): string =>
  `pid ${pid} (role "${role ?? ''}", application "${application}"${state ? `, ${state}` : ''}: ${withoutValues(query)})`

/** Shows a query without its values: cuts it at the first string or comment, and replaces numbers with an ellipsis. */
function withoutValues(query: string): string {
  const [shown = ''] = query.split(/'|\$(?!\d)|--|\/\*/, 1)
  const rest = shown.length < query.length ? '…' : ''
  return `${shown
    .replaceAll(/(?<![\w$])[\d.]+/g, '…')
    .replaceAll(/\s+/g, ' ')
    .trim()}${rest}`
}
