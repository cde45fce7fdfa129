import { isStockPostgres } from '../../postgres/engine.ts'
import { type Finding, note, ok, wrong } from './finding.ts'
import { type Ask, connectToPostgres } from './postgres-connection.ts'
import { examineTables } from './postgres-tables.ts'

const OLDEST_SERVER = 14
/** Milliseconds that the clocks may differ: leases and the expiry of keys go by them. */
const MOST_SKEW = 5000

/** Examines a database, without changing anything. @throws when it cannot be reached. */
export async function* examinePostgres(url: string, schema = 'domain_registration'): AsyncGenerator<Finding> {
  const { ask, attempt, close } = await connectToPostgres(url)
  try {
    yield* examineServer(ask)
    yield* examineTransactions(ask)
    yield await examineClock(ask)
    yield* examineTables(attempt, { schema, isDistributed: await hasCitus(ask) })
  } finally {
    await close()
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
    const advice = 'See docs/postgres.md for what is known of other engines'
    yield note('engine', `${name}, which is not PostgreSQL itself`, advice)
  }
}

async function* examineTransactions(ask: Ask): AsyncGenerator<Finding> {
  const setting = await askOne<{ isolation: string; read_only: string; is_standby: boolean }>(
    ask,
    `SELECT current_setting('default_transaction_isolation') AS isolation,
            current_setting('default_transaction_read_only') AS read_only, pg_is_in_recovery() AS is_standby`,
  )
  if (setting.is_standby || setting.read_only === 'on') {
    const finding = setting.is_standby ? 'the server is a standby, and can only be read' : 'transactions only read'
    yield wrong('writing', finding, 'Connect to the primary, with default_transaction_read_only = off')
  }
  if (setting.isolation === 'read committed') {
    yield ok('isolation', setting.isolation)
  } else {
    const finding = `the default is ${setting.isolation}; the stores set read committed themselves`
    const advice = 'Begin a transaction of yours that you pass to a store with ISOLATION LEVEL READ COMMITTED'
    yield note('isolation', finding, advice)
  }
}

async function examineClock(ask: Ask): Promise<Finding> {
  const [begun, before] = [performance.now(), Date.now()]
  const { now } = await askOne<{ now: number }>(
    ask,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  )
  const elapsed = performance.now() - begun
  const skew = now - (before + elapsed / 2)
  const seconds = (Math.abs(skew) / 1000).toFixed(0)
  if (Math.abs(skew) <= MOST_SKEW + elapsed / 2) {
    return ok('clock', 'that of the database and that of this machine agree')
  }
  const finding = `that of the database is ${seconds} seconds ${skew > 0 ? 'ahead of' : 'behind'} that of this machine`
  return wrong('clock', finding, 'Synchronize both with NTP')
}
