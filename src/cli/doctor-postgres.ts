import { hasCode } from '../postgres/drivers/failures.ts'
import { WAIT_FOR_DISK } from '../postgres/drivers/sequence.ts'
import { IS_DISTRIBUTED, isStockPostgres, toEngine } from '../postgres/engines/find-engine.ts'
import { denied } from '../postgres/migrate.ts'
import { createSchema, DEFAULT_SCHEMA, quoteIdentifier, SCHEMA_VERSION, toTables } from '../postgres/schema.ts'
import {
  compareParts,
  compareVersions,
  type Examination,
  type Finding,
  note,
  ok,
  type Part,
  TRIAL_TEAM,
  tryStatements,
  wrong,
} from './checks.ts'
import { ask, createPool, type Pool, selectVersion } from './database.ts'
import { page, plural } from './text.ts'

/** The oldest version on which this package is tested. */
const OLDEST_SERVER = 15

type Client = Pick<Pool, 'query'>

interface Server {
  readonly version: string
  readonly number: number
  readonly role: string
  readonly database: string
  readonly is_distributed: boolean
  readonly is_standby: boolean
  /** How many connections the role and the database may have; `null` without a limit. */
  readonly most_of_role: number | null
  readonly most_of_database: number | null
}

/**
 * Examines a database without changing anything: the doctor rolls back what it writes, except one message in the log,
 * which is in no table.
 */
export function examinePostgres(url: string, schema = DEFAULT_SCHEMA): Examination {
  const pool = createPool(url)
  let client: Awaited<ReturnType<Pool['connect']>>
  let server: Server
  return {
    checks: [
      [
        'connection',
        async () => {
          client = await pool.connect()
          server = await readServer(client)
          if (server.is_standby) return wrong('the server is a standby, and read-only', 'Connect to the primary')
          return [ok(`database "${server.database}", as the role "${server.role}"`), ...examineLimits(server)]
        },
      ],
      ['engine', () => examineEngine(server)],
      ['locks', () => examineLocks(client)],
      ['tables', () => findMissingTables(client, schema)],
      ['rights', () => examineRights(client, schema)],
      ['tables', () => examineTables(client, schema, server.is_distributed)],
      ['writing', () => examineWriting(client, schema)],
      ['writing', () => examineCommit(client, url)],
    ],
    async close() {
      client?.release(true)
      await pool.end()
    },
  }
}

async function readServer(client: Client): Promise<Server> {
  const { rows } = await ask<Server>(
    client,
    `SELECT version() AS version, current_setting('server_version_num')::integer / 10000 AS number,
       current_user AS role, current_database() AS database,
       ${IS_DISTRIBUTED} AS is_distributed,
       pg_is_in_recovery() AS is_standby,
       -- These limits do not concern superusers.
       CASE WHEN NOT rolsuper AND rolconnlimit >= 0 THEN rolconnlimit END AS most_of_role,
       CASE WHEN NOT rolsuper AND datconnlimit >= 0 THEN datconnlimit END AS most_of_database
     FROM pg_roles, pg_database WHERE rolname = session_user AND datname = current_database()`,
  )
  return rows[0] as Server
}

/** The connections of a pool of `pg`, if its option `max` is not set. */
const POOL_SIZE = 10

function examineLimits({ role, database, most_of_role, most_of_database }: Server): readonly Finding[] {
  const limits = [
    [`the role "${role}"`, most_of_role],
    [`the database "${database}"`, most_of_database],
  ] as const
  return limits.flatMap(([owner, most]) =>
    most === null || most >= POOL_SIZE
      ? []
      : [
          note(
            `${owner} may have at most ${most} connections`,
            `Set the option "max" of your pools, ${POOL_SIZE} by default, so that all servers together stay below`,
          ),
        ],
  )
}

function examineEngine({ version, number }: Server): Finding {
  const name = version.split(/,| on /)[0] as string
  const advice = `Use PostgreSQL ${OLDEST_SERVER} or later`
  if (!isStockPostgres(version)) return wrong(`${name}, which is not PostgreSQL itself`, advice)
  return number < OLDEST_SERVER ? note(`${name}, on which this package is not tested`, advice) : ok(name)
}

/** After how many milliseconds a session that still makes others wait for a lock gets a note. */
const BLOCKING = 1000

interface Holder {
  /** 0 for a prepared transaction. */
  readonly pid: number
  /** `null` if this role may not see it. */
  readonly since: string | null
  readonly role: string | null
  readonly application: string | null
  readonly waiting: number
}

/** The sessions that wait for no lock themselves, and make sessions of this role wait for one. */
async function findHolders(client: Client): Promise<readonly Holder[]> {
  const { rows } = await ask<Holder>(
    client,
    `SELECT holder AS pid, held.xact_start::text AS since, held.usename AS role, held.application_name AS application,
       count(*)::integer AS waiting
     FROM pg_stat_activity AS waits CROSS JOIN unnest(pg_blocking_pids(waits.pid)) AS holder
       LEFT JOIN pg_stat_activity AS held ON held.pid = holder
     WHERE waits.datname = current_database() AND waits.wait_event_type = 'Lock'
       AND pg_blocking_pids(holder) = '{}'
     GROUP BY 1, 2, 3, 4 ORDER BY waiting DESC, pid`,
  )
  return rows
}

/** Looks twice, because calls wait for each other too, for some milliseconds. */
async function examineLocks(client: Client): Promise<readonly Finding[]> {
  const before = await findHolders(client)
  if (before.length === 0) return []
  await new Promise(resolve => setTimeout(resolve, BLOCKING))
  const still = (await findHolders(client)).filter(({ pid, since }) =>
    before.some(holder => holder.pid === pid && holder.since === since),
  )
  return still.map(({ pid, waiting, ...holder }) => {
    const waits = `${plural(waiting, 'connection waits', 'connections wait')} for a lock`
    const session = `session ${pid} (role "${holder.role}", application "${holder.application}")`
    return pid === 0
      ? note(`${waits} of a prepared transaction`, `Commit it or roll it back; see ${page('runbook.md')}`)
      : note(`${waits} of ${session}`, 'If nobody needs its transaction, end it:', [
          `SELECT pg_terminate_backend(${pid})`,
        ])
  })
}

/** Finds out whether all tables are missing, or the one with their version, which `migrate` would create. */
async function findMissingTables(client: Client, schema: string): Promise<readonly Finding[]> {
  // Unlike the descriptions of `readParts`, this query waits for no lock.
  const { rows } = await ask<{ name: string }>(
    client,
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p')`,
    [schema],
  )
  const { schema: _, ...tables } = toTables({ schema })
  const missing = Object.keys(tables).filter(table => !rows.some(({ name }) => name === table))
  if (!missing.includes('version')) return []
  const isEmpty = missing.length === Object.keys(tables).length
  const finding = isEmpty ? `missing: the schema "${schema}" contains none of them` : `missing: ${missing.join(', ')}`
  return [wrong(finding, 'Run "domain-registration migrate" as a role that may create tables; check --schema')]
}

/** The privileges that the stores need on each table. */
export const needed: Readonly<Record<string, readonly string[]>> = {
  names: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  changes: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  locks: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  monitor: ['SELECT', 'INSERT'],
  keys: ['SELECT', 'INSERT', 'UPDATE'],
  waiting: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  version: ['SELECT'],
}

async function examineRights(client: Client, schema: string): Promise<Finding> {
  const { rows } = await ask<{ name: string; may_use: boolean; missing: readonly string[]; hides_rows: boolean }>(
    client,
    `SELECT class.relname AS name, has_schema_privilege(place.oid, 'USAGE') AS may_use,
            row_security_active(class.oid) AS hides_rows,
            ARRAY(SELECT needed FROM json_array_elements_text($2::json -> class.relname::text) AS needed
                  WHERE NOT has_table_privilege(class.oid, needed)) AS missing
     FROM pg_class AS class JOIN pg_namespace AS place ON place.oid = class.relnamespace
     WHERE place.nspname = $1 AND class.relkind IN ('r', 'p') AND class.relname IN (SELECT json_object_keys($2::json))
     ORDER BY class.relname`,
    [schema, JSON.stringify(needed)],
  )
  const place = quoteIdentifier(schema)
  const grants = [
    ...(rows.every(({ may_use }) => may_use) ? [] : [`GRANT USAGE ON SCHEMA ${place} TO …`]),
    ...rows
      .filter(({ missing }) => missing.length > 0)
      .map(({ name, missing }) => `GRANT ${missing.join(', ')} ON ${place}.${name} TO …`),
  ]
  if (grants.length > 0) return wrong('the role lacks privileges', 'Run as the owner of the tables:', grants)
  const hidden = rows.filter(({ hides_rows }) => hides_rows).map(({ name }) => name)
  if (hidden.length === 0) return ok('the role has all privileges that the stores need')
  return wrong(
    `row-level security hides rows of ${hidden.join(', ')}`,
    'Give the role BYPASSRLS, or disable row-level security on these tables',
  )
}

/** Runs `work` in a transaction that is then rolled back. No lock is awaited for more than a second. */
async function inTransaction<T>(client: Client, begin: string, work: () => Promise<T>): Promise<T> {
  await ask(client, `${begin}; SET LOCAL lock_timeout = '1s'`)
  try {
    return await work()
  } finally {
    // If the connection is lost, the server rolls back by itself.
    await ask(client, 'ROLLBACK').catch(() => {})
  }
}

/** Compares the tables with those that `migrate` would create. */
export const examineTables = (client: Client, schema: string, isDistributed: boolean): Promise<readonly Finding[]> =>
  inTransaction(client, 'BEGIN READ WRITE', async () => {
    const tables = toTables({ schema })
    const { rows } = await ask<{ version: number | null }>(client, selectVersion(tables.version))
    const version = compareVersions(rows[0]?.version ?? 0, SCHEMA_VERSION)
    if (version) return [version]
    const actual = await readParts(client, schema)
    let expected: readonly Part[]
    try {
      expected = await createModel(client, isDistributed)
    } catch (error) {
      if (!hasCode(error, denied)) throw error
      const finding = `not compared with what migrate creates: ${(error as Error).message}`
      return [note(finding, 'Run doctor as the owner of the tables')]
    }
    return compareParts(expected, actual, SCHEMA_VERSION)
  })

const UNLOGGED = 'UNLOGGED, so a crash of the server empties it'

/** The tables in a schema, and their parts, as the catalogs describe them, which any role may read. */
export async function readParts(client: Client, schema: string): Promise<readonly Part[]> {
  const { rows } = await ask<Part>(
    client,
    `WITH tables AS (
       SELECT oid, relname, relpersistence FROM pg_class
       WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')
     ), parts AS (
       SELECT 1 AS rank, oid, 'table' AS kind, relname AS name,
         CASE relpersistence WHEN 'u' THEN '${UNLOGGED}' ELSE '' END AS definition FROM tables
       UNION ALL
       SELECT 2, attrelid, 'column', attname, concat_ws(' ', attname, type, CASE WHEN attnotnull THEN 'NOT NULL' END,
           CASE attgenerated WHEN '' THEN 'DEFAULT ' ELSE 'GENERATED ' END || preset)
       FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         LEFT JOIN pg_collation ON pg_collation.oid = attcollation AND attcollation <> typcollation,
         pg_get_expr(adbin, adrelid) AS preset,
         concat_ws(' COLLATE ', format_type(atttypid, atttypmod), quote_ident(collname)) AS type
       WHERE attrelid IN (SELECT oid FROM tables) AND attnum > 0 AND NOT attisdropped
       UNION ALL
       SELECT 3, conrelid, CASE contype WHEN 'p' THEN 'primary key' ELSE 'constraint' END, conname,
         pg_get_constraintdef(oid)
       FROM pg_constraint WHERE conrelid IN (SELECT oid FROM tables) AND contype IN ('p', 'u', 'c', 'x')
       UNION ALL
       -- What follows the table's name in CREATE INDEX, without storage parameters.
       SELECT 4, indrelid, 'index', relname, CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END ||
         regexp_replace(regexp_replace(pg_get_indexdef(indexrelid), '^.*? USING ', ''), ' WITH \\([^)]*\\)', '') ||
         CASE WHEN indisvalid AND indisready THEN '' ELSE ' (invalid)' END
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE indrelid IN (SELECT oid FROM tables) AND NOT indisprimary
       UNION ALL
       -- PostgreSQL's own triggers check foreign keys.
       SELECT 5, tgrelid, 'trigger', tgname, '' FROM pg_trigger
       WHERE tgrelid IN (SELECT oid FROM tables) AND NOT tgisinternal AND tgenabled <> 'D'
       UNION ALL
       SELECT 6, ev_class, 'rule', rulename, '' FROM pg_rewrite
       WHERE ev_class IN (SELECT oid FROM tables) AND ev_enabled <> 'D'
     )
     SELECT relname AS "table", kind, name, definition
     FROM parts JOIN tables USING (oid) ORDER BY relname, rank, name`,
    [schema],
  )
  return rows
}

/**
 * Creates the tables of this version as temporary tables, which disappear with the transaction, and reads how
 * PostgreSQL describes them. So two descriptions by the same server are compared.
 */
async function createModel(client: Client, isDistributed: boolean): Promise<readonly Part[]> {
  // A full disk shows only in new pages, so this writes a megabyte too.
  const fill = ["CREATE TEMPORARY TABLE x AS SELECT repeat('x', 1000) FROM generate_series(1, 1000)", 'DROP TABLE x']
  const statements = createSchema({ schema: 'pg_temp' }, toEngine(isDistributed))
  const create = statements.filter(text => /^CREATE (?:TABLE|(?:UNIQUE )?INDEX) /m.test(text))
  await ask(client, [...fill, ...create].join(';\n'))
  const { rows } = await ask<{ name: string }>(client, 'SELECT pg_my_temp_schema()::regnamespace::text AS name')
  return readParts(client, rows[0]?.name ?? '')
}

/** The SQLSTATEs of the application's own constraints, which may refuse rows of a team that does not exist. */
const ofConstraints = ['23503', '23514']
/** The SQLSTATE of an exception that a trigger raises. */
const RAISED = 'P0001'

/**
 * Saves, changes and deletes a row in each table that stores write to, and rolls back. Finds read-only transactions,
 * and triggers and rules that refuse or skip rows.
 */
const examineWriting = (client: Client, schema: string): Promise<Finding> =>
  inTransaction(client, 'BEGIN', async () => {
    const { names, changes, locks, keys } = toTables({ schema })
    const { rows } = await ask<{ team_id: string }>(client, `SELECT team_id FROM ${names} LIMIT 1`)
    const expected = new Set(rows.length > 0 ? ofConstraints : [...ofConstraints, RAISED])
    const [id, team] = [crypto.randomUUID(), (rows[0]?.team_id ?? TRIAL_TEAM).replaceAll("'", "''")]
    const statements = [
      `INSERT INTO ${locks} (second_level_domain, registrable_domain) VALUES ('#doctor', '#${id}')`,
      `INSERT INTO ${names} (domain_id, created_at, second_level_domain, path, domain, registrable_domain, team_id)
       VALUES ('${id}', now(), '#doctor', '${id}', '#${id}', '#doctor', '${team}')`,
      `INSERT INTO ${changes} (domain_id, due, since, kind, second_level_domain, domain, registrable_domain, team_id)
       VALUES ('${id}', now(), now(), 'registered', '#doctor', '#${id}', '#doctor', '${team}')`,
      `INSERT INTO ${keys} (hash, type, owner_id, scopes) VALUES ('#${id}', 'team', '0', '{}')`,
      `UPDATE ${names} SET team_id = team_id WHERE domain_id = '${id}'`,
      `UPDATE ${changes} SET due = due WHERE domain_id = '${id}'`,
      `UPDATE ${keys} SET label = label WHERE hash = '#${id}'`,
      `DELETE FROM ${locks} WHERE registrable_domain = '#${id}'`,
      `DELETE FROM ${names} WHERE domain_id = '${id}'`,
      `DELETE FROM ${changes} WHERE domain_id = '${id}'`,
      // Triggers and constraints may wait for the commit, which never comes.
      'SET CONSTRAINTS ALL IMMEDIATE',
    ]
    try {
      return await tryStatements(statements, async sql => (await ask(client, sql)).rowCount)
    } catch (error) {
      if (!hasCode(error, expected)) throw error
      const finding = `your application refuses a trial row: ${(error as Error).message}`
      return note(finding, 'Nothing is wrong if it accepts the rows of your teams. Nothing else was tried')
    }
  })

/** After how many milliseconds a commit no longer waits for a standby. */
const PATIENCE = 3000

/**
 * Commits a message in the server's log, because only a commit waits for synchronous standbys. No time limit of the
 * server ends this wait, so another connection cancels it: then the commit counts as done.
 */
async function examineCommit(client: Client, url: string): Promise<readonly Finding[]> {
  const { rows } = await ask<{ pid: number }>(client, 'SELECT pg_backend_pid() AS pid')
  const canceling = createPool(url)
  let standbys: string | undefined
  async function cancel(): Promise<void> {
    const canceled = await ask<{ standbys: string }>(
      canceling,
      `SELECT pg_cancel_backend(pid), current_setting('synchronous_standby_names') AS standbys
       FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'`,
      [rows[0]?.pid],
    )
    standbys = canceled.rows[0]?.standbys
  }
  const timer = setTimeout(() => void cancel().catch(() => {}), PATIENCE)
  try {
    const message = `SELECT pg_logical_emit_message(true, 'domain-registration', 'doctor')`
    await ask(client, `BEGIN; SELECT ${WAIT_FOR_DISK}; ${message}; COMMIT`)
  } finally {
    clearTimeout(timer)
    await canceling.end()
  }
  if (standbys === undefined) return []
  const finding = `each commit waits for a synchronous standby that does not respond: ${standbys}`
  return [wrong(finding, 'Start the standby, or remove it from synchronous_standby_names')]
}
