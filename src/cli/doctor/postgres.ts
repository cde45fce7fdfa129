import { DEFAULT_TRANSACTION_TIME_LIMIT } from '../../postgres/drivers.ts'
import { isStockPostgres } from '../../postgres/engines.ts'
import { type Finding, note, ok, wrong } from './finding.ts'
import { type Ask, connectToPostgres, LOCKED } from './postgres-connection.ts'
import { examineGrowth } from './postgres-growth.ts'
import { examineLocks, findLockers } from './postgres-locks.ts'
import { examineTables } from './postgres-tables.ts'
import { examineWriting } from './postgres-write.ts'

const OLDEST_SERVER = 14
/**
 * The tolerated difference between the clocks, in milliseconds. Leases and the expiry of keys depend on these clocks.
 */
const MOST_SKEW = 5000

/** A round trip that takes longer than this, in milliseconds, is reported as slow. */
const LONGEST_TRIP = 20
const TRIPS = 5

/** Examines a database without changing anything. @throws An error if the database cannot be reached. */
export async function* examinePostgres(url: string, schema = 'domain_registration'): AsyncGenerator<Finding> {
  const connection = await connectToPostgres(url)
  const { ask, inTransaction } = connection
  const failed = new Set<string>()
  /** Runs a check. If a locked table prevents the check, reports the lock and the session that holds it. */
  async function* examine(check: string, findings: AsyncGenerator<Finding>): AsyncGenerator<Finding> {
    try {
      for await (const finding of findings) {
        if (finding.state === 'wrong') failed.add(finding.check)
        yield finding
      }
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCKED) throw error
      if (!failed.has('locks')) yield* findLockers(ask, schema)
      failed.add('locks')
      yield note(check, 'not checked, because a table is locked')
    }
  }
  const attempt: Ask = (text, ...values) => inTransaction(begun => begun(text, ...values))
  try {
    yield* examineServer(ask)
    yield* examine('writing', examineTransactions(ask))
    yield* examineTrips(ask)
    yield* examine('locks', examineLocks(ask, schema))
    const place = { schema, isDistributed: await hasCitus(ask) }
    yield* examine('tables', examineTables(attempt, place))
    if (failed.has('tables') || failed.has('rights')) return
    if (!failed.has('writing')) yield* examine('writing', examineWriting(connection, place))
    yield* examine('growth', examineGrowth(attempt, place))
  } finally {
    await connection.close()
  }
}

async function askOne<Row>(ask: Ask, text: string): Promise<Row> {
  const [row] = await ask<Row>(text)
  return row as Row
}

async function hasCitus(ask: Ask): Promise<boolean> {
  return (await ask("SELECT FROM pg_extension WHERE extname = 'citus'")).length > 0
}

async function* examineServer(ask: Ask): AsyncGenerator<Finding> {
  const server = await askOne<{ version: string; number: number; role: string; database: string }>(
    ask,
    `SELECT version() AS version, current_setting('server_version_num')::integer / 10000 AS number,
            current_user AS role, current_database() AS database`,
  )
  const { version, number, role, database } = server
  yield ok('connection', `database "${database}", as the role "${role}"`)
  const name = version.split(/,| on /)[0] as string
  if (number < OLDEST_SERVER) {
    yield wrong('engine', name, `Use PostgreSQL ${OLDEST_SERVER} or later`)
  } else if (isStockPostgres(version)) {
    yield ok('engine', name)
  } else {
    const advice = 'See docs/postgres-drivers.md for what is known about other engines'
    yield note('engine', `${name}, which is not PostgreSQL itself`, advice)
  }
}

const FIND_READ_ONLY =
  'Set default_transaction_read_only = off for the server, or for the database or role that this query finds:'
const SELECT_READ_ONLY = 'SELECT setdatabase, setrole::regrole, setconfig FROM pg_db_role_setting'

async function* examineTransactions(ask: Ask): AsyncGenerator<Finding> {
  const setting = await askOne<{ isolation: string; read_only: string; is_standby: boolean }>(
    ask,
    `SELECT current_setting('default_transaction_isolation') AS isolation,
            current_setting('default_transaction_read_only') AS read_only, pg_is_in_recovery() AS is_standby`,
  )
  if (setting.is_standby || setting.read_only === 'on') {
    yield setting.is_standby
      ? wrong('writing', 'the server is a standby, and read-only', 'Connect to the primary')
      : wrong('writing', 'transactions are read-only by default', FIND_READ_ONLY, [SELECT_READ_ONLY])
  }
  if (setting.isolation === 'read committed') {
    yield ok('isolation', setting.isolation)
  } else {
    const finding = `the default is ${setting.isolation}; the stores set read committed themselves`
    const advice = 'If you pass your own transaction to a store, begin it with ISOLATION LEVEL READ COMMITTED'
    yield note('isolation', finding, advice)
  }
}

/** Examines the round trip to the database, and the database's clock. */
async function* examineTrips(ask: Ask): AsyncGenerator<Finding> {
  const trips: { elapsed: number; skew: number }[] = []
  for (let count = 0; count < TRIPS; count += 1) {
    const [begun, before] = [performance.now(), Date.now()]
    const { now } = await askOne<{ now: number }>(
      ask,
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    )
    const elapsed = performance.now() - begun
    trips.push({ elapsed, skew: now - (before + elapsed / 2) })
  }
  const median = trips.sort((one, other) => one.elapsed - other.elapsed)[Math.floor(TRIPS / 2)] as (typeof trips)[0]
  yield examineTrip(median.elapsed)
  yield examineClock(median)
}

/** Examines the median time of a round trip, in milliseconds. */
export function examineTrip(elapsed: number): Finding {
  if (elapsed <= LONGEST_TRIP) return ok('round trip', `at most ${LONGEST_TRIP} ms to the database and back`)
  const least = Math.round(2 * elapsed)
  const most = Math.round(5 * elapsed)
  const finding =
    `${Math.round(elapsed)} ms to the database and back: a call takes at least ${least} ms, ` +
    `or ${most} ms if the pool does not have "pipeline: true"`
  const state = most > DEFAULT_TRANSACTION_TIME_LIMIT ? wrong : note
  return state('round trip', finding, 'Run the server near its database, or find out what slows the network')
}

function examineClock({ elapsed, skew }: { elapsed: number; skew: number }): Finding {
  const seconds = (Math.abs(skew) / 1000).toFixed(0)
  if (Math.abs(skew) <= MOST_SKEW + elapsed / 2) {
    return ok('clock', 'the clocks of the database and of this machine agree')
  }
  const finding = `the database's clock is ${seconds} seconds ${skew > 0 ? 'ahead of' : 'behind'} this machine's`
  return wrong('clock', finding, 'Synchronize both with NTP')
}
