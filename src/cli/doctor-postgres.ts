import { isStockPostgres } from '../postgres/engine.ts'
import { quoteIdentifier, SCHEMA_VERSION, toTables } from '../postgres/schema.ts'
import { compareVersions, type Finding, noTables, note, ok, wrong } from './finding.ts'
import { createPool, type Pool } from './postgres.ts'

const OLDEST_SERVER = 14
/** Milliseconds that the clocks may differ: leases and the expiry of keys go by them. */
const MOST_SKEW = 5000

/** What the stores do with each table. */
const needed: Readonly<Record<string, readonly string[]>> = {
  names: ['SELECT', 'INSERT', 'DELETE'],
  changes: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  locks: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  monitor: ['SELECT', 'INSERT'],
  keys: ['SELECT', 'INSERT', 'UPDATE'],
  version: ['SELECT'],
}

/** Examines a database, without changing anything. @throws when it cannot be reached. */
export async function* examinePostgres(url: string, schema = 'domain_registration'): AsyncGenerator<Finding> {
  const pool = createPool(url)
  try {
    yield* examineServer(pool)
    yield* examineTransactions(pool)
    yield await examineClock(pool)
    yield* examineTables(pool, schema)
  } finally {
    await pool.end()
  }
}

async function ask<Row>(pool: Pool, text: string, ...values: readonly unknown[]): Promise<Row> {
  const { rows } = await pool.query<Row>(text, values)
  return rows[0] as Row
}

async function* examineServer(pool: Pool): AsyncGenerator<Finding> {
  const server = await ask<{ version: string; number: number; role: string; database: string }>(
    pool,
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

async function* examineTransactions(pool: Pool): AsyncGenerator<Finding> {
  const setting = await ask<{ isolation: string; read_only: string; is_standby: boolean }>(
    pool,
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

async function examineClock(pool: Pool): Promise<Finding> {
  const [begun, before] = [performance.now(), Date.now()]
  const { now } = await ask<{ now: number }>(
    pool,
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

interface TableRow {
  readonly name: string
  readonly may_use: boolean
  readonly missing: readonly string[]
  readonly hides_rows: boolean
}

async function* examineTables(pool: Pool, schema: string): AsyncGenerator<Finding> {
  const { rows } = await pool.query<TableRow>(
    `SELECT class.relname AS name, has_schema_privilege(place.oid, 'USAGE') AS may_use,
            row_security_active(class.oid) AS hides_rows,
            ARRAY(SELECT needed FROM json_array_elements_text($2::json -> class.relname::text) AS needed
                  WHERE NOT has_table_privilege(class.oid, needed)) AS missing
     FROM pg_class AS class JOIN pg_namespace AS place ON place.oid = class.relnamespace
     WHERE place.nspname = $1 AND class.relkind IN ('r', 'p') AND class.relname IN (SELECT json_object_keys($2::json))
     ORDER BY class.relname`,
    [schema, JSON.stringify(needed)],
  )
  const absent = Object.keys(needed).filter(name => !rows.some(row => row.name === name))
  if (rows.length === 0) return yield noTables(`not there: the schema "${schema}" has none of them`)
  if (absent.length > 0) return yield noTables(`not all there: ${absent.join(', ')} missing`)
  const rights = examineRights(rows, schema)
  if (rights.state === 'ok') {
    const { version } = toTables({ schema })
    const row = await ask<{ version: number | null }>(pool, `SELECT max(version) AS version FROM ${version}`)
    yield compareVersions(row.version ?? 0, SCHEMA_VERSION)
  }
  yield rights
  const hidden = rows.filter(row => row.hides_rows).map(({ name }) => name)
  if (hidden.length > 0) {
    const finding = `row-level security hides rows of ${hidden.join(', ')}`
    yield wrong('rights', finding, 'Give the role BYPASSRLS, or disable it on these tables')
  }
}

function examineRights(rows: readonly TableRow[], schema: string): Finding {
  const place = quoteIdentifier(schema)
  const grants = [
    ...(rows.every(row => row.may_use) ? [] : [`GRANT USAGE ON SCHEMA ${place} TO …`]),
    ...rows
      .filter(({ missing }) => missing.length > 0)
      .map(({ name, missing }) => `GRANT ${missing.join(', ')} ON ${place}.${name} TO …`),
  ]
  if (grants.length === 0) return ok('rights', 'the role may do all that the stores do')
  const finding = `the role lacks ${grants.length === 1 ? 'a right' : 'rights'}`
  return wrong('rights', finding, `As the owner of the tables: ${grants.join('; ')}`)
}
