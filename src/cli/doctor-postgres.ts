import { generateApiKey } from '../keys/api-key.ts'
import { importDomains } from '../operations/import-domains.ts'
import { isStockPostgres } from '../postgres/engines.ts'
import { createPostgresKeyStore } from '../postgres/keys.ts'
import { createSchema, quoteIdentifier, SCHEMA_VERSION, type Tables, toTables } from '../postgres/schema.ts'
import { createPostgresStore } from '../postgres/store.ts'
import { createUuidGenerator } from '../runtime/uuid.ts'
import { createPool, findCode, findTeam, type Pool, selectVersion } from './database.ts'
import { compareVersions, type Finding, note, ok, wrong } from './finding.ts'

const OLDEST_SERVER = 14

/** A connection of the doctor. */
type Client = Pick<Pool, 'query'>

interface Server {
  readonly version: string
  readonly number: number
  readonly role: string
  readonly database: string
  /** The setting for new transactions of this role in this database. */
  readonly durability: string
  readonly is_distributed: boolean
  readonly is_standby: boolean
}

/**
 * Examines a database without changing anything: whatever the doctor writes, it rolls back.
 *
 * @throws {Error} if the database cannot be reached, or fails during the examination.
 */
export async function* examinePostgres(url: string, schema = 'domain_registration'): AsyncGenerator<Finding> {
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    try {
      yield* examine(client, schema)
    } finally {
      client.release()
    }
  } finally {
    await pool.end()
  }
}

async function* examine(client: Client, schema: string): AsyncGenerator<Finding> {
  const [server] = (
    await client.query<Server>(
      `SELECT version() AS version, current_setting('server_version_num')::integer / 10000 AS number,
         current_user AS role, current_database() AS database, current_setting('synchronous_commit') AS durability,
         EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS is_distributed,
         pg_is_in_recovery() AS is_standby`,
    )
  ).rows as [Server]
  yield ok('connection', `database "${server.database}", as the role "${server.role}"`)
  yield examineEngine(server)
  yield examineDurability(server)
  if (server.is_standby) {
    return yield wrong('writing', 'the server is a standby, and read-only', 'Connect to the primary')
  }
  const missing = await findMissingTables(client, schema)
  if (missing !== null) {
    const advice = 'Run "domain-registration migrate" as a role that may create tables; check --schema'
    return yield wrong('tables', missing, advice)
  }
  const rights = await examineRights(client, schema)
  const mayRead = rights.every(({ state }) => state !== 'wrong')
  const tables = await examineTables(client, schema, { mayRead, isDistributed: server.is_distributed })
  for (const finding of [...tables, ...rights]) yield finding
  if (mayRead && tables.every(({ state }) => state !== 'wrong')) yield await examineWriting(client, schema)
}

/** Runs `work` in a transaction that is then rolled back. No lock is awaited for more than a second. */
async function inTransaction<T>(client: Client, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(`${begin}; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '20s'`)
  try {
    return await work()
  } finally {
    await client.query('ROLLBACK')
  }
}

function examineEngine({ version, number }: Server): Finding {
  const name = version.split(/,| on /)[0] as string
  if (number < OLDEST_SERVER) return wrong('engine', name, `Use PostgreSQL ${OLDEST_SERVER} or later`)
  if (isStockPostgres(version)) return ok('engine', name)
  return wrong('engine', `${name}, which is not PostgreSQL itself`, `Use PostgreSQL ${OLDEST_SERVER} or later`)
}

function examineDurability({ durability, database, role }: Server): Finding {
  if (durability !== 'off') return ok('durability', `synchronous_commit is ${durability}`)
  return note(
    'durability',
    'synchronous_commit is off; the stores wait for the disk nevertheless, but what your own transactions commit may ' +
      'be gone after a crash of the server',
    'Remove the setting where it was made: postgresql.conf, the database, or the role:',
    [
      `ALTER DATABASE ${quoteIdentifier(database)} RESET synchronous_commit`,
      `ALTER ROLE ${quoteIdentifier(role)} RESET synchronous_commit`,
    ],
  )
}

/** Says which tables are missing if `migrate` can create them: if all are missing, or their version is. */
async function findMissingTables(client: Client, schema: string): Promise<string | null> {
  const { schema: _, ...tables } = toTables({ schema })
  const { rows } = await client.query<{ name: keyof Tables }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p')`,
    [schema],
  )
  const missing = Object.keys(tables).filter(name => !rows.some(row => row.name === name))
  if (missing.length === Object.keys(tables).length) return `missing: the schema "${schema}" contains none of them`
  return missing.includes('version') ? `some are missing: ${missing.join(', ')}` : null
}

// The tables: their version, and their definitions beside those of tables that `migrate` would create.

interface Circumstances {
  /** Whether the role may read the tables, and not only the catalogs. */
  readonly mayRead: boolean
  readonly isDistributed: boolean
}

export const examineTables = (client: Client, schema: string, circumstances: Circumstances): Promise<Finding[]> =>
  inTransaction(client, 'BEGIN READ WRITE', () => compareWithModel(client, schema, circumstances))

async function compareWithModel(
  client: Client,
  schema: string,
  { mayRead, isDistributed }: Circumstances,
): Promise<Finding[]> {
  const tables = toTables({ schema })
  if (mayRead) {
    const [row] = (await client.query<{ version: number | null }>(selectVersion(tables.version))).rows
    const wrongVersion = compareVersions(row?.version ?? 0, SCHEMA_VERSION)
    if (wrongVersion) return [wrongVersion]
  }
  const actual = await readTables(client, schema)
  let expected: readonly Table[]
  try {
    expected = await createModel(client, isDistributed)
  } catch (error) {
    const finding = `not compared with what migrate creates: ${(error as Error).message}`
    return [note('tables', finding, 'Run doctor as the owner of the tables')]
  }
  const statements = createSchema({ schema }, isDistributed)
  const findings = [...compareTables(tables, statements, expected, actual), ...findLeftovers(tables, actual)]
  const isGood = findings.every(({ state }) => state !== 'wrong')
  return isGood ? [ok('tables', `version ${SCHEMA_VERSION}, as migrate creates them`), ...findings] : findings
}

interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  readonly constraints: readonly { readonly name: string; readonly definition: string }[]
  readonly indexes: readonly Index[]
}

interface Column {
  readonly name: string
  /** The type, with its collation if that is not the type's own. */
  readonly type: string
  readonly isRequired: boolean
  readonly default: string | null
}

interface Index {
  readonly name: string
  /** What follows the table's name in `CREATE INDEX`, without storage parameters, after `UNIQUE` if it is unique. */
  readonly definition: string
  readonly isValid: boolean
  readonly isPrimary: boolean
}

/** The tables in a schema, as the catalogs describe them, which any role may read. */
export async function readTables(client: Client, schema: string): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT class.relname AS name,
      (SELECT coalesce(json_agg(json_build_object('name', attname, 'isRequired', attnotnull,
          'type', format_type(atttypid, atttypmod) || coalesce(' COLLATE ' || quote_ident(collname), ''),
          'default', pg_get_expr(adbin, adrelid)) ORDER BY attnum), '[]')
       FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         LEFT JOIN pg_collation ON pg_collation.oid = attcollation AND attcollation <> typcollation
       WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      (SELECT coalesce(json_agg(json_build_object('name', conname, 'definition', pg_get_constraintdef(oid))), '[]')
       FROM pg_constraint WHERE conrelid = class.oid AND contype IN ('p', 'u', 'c')) AS constraints,
      (SELECT coalesce(json_agg(json_build_object('name', place.relname, 'isPrimary', indisprimary,
          'isValid', indisvalid AND indisready, 'definition', CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END ||
          regexp_replace(regexp_replace(pg_get_indexdef(indexrelid), '^.*? USING ', ''),
            ' WITH \\([^)]*\\)', ''))), '[]')
       FROM pg_index JOIN pg_class AS place ON place.oid = indexrelid WHERE indrelid = class.oid) AS indexes
    FROM pg_class AS class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')`,
    [schema],
  )
  return rows
}

/**
 * Creates the tables of this version as temporary tables, which disappear with the transaction, and reads how
 * PostgreSQL describes them. So two descriptions by the same server are compared.
 */
async function createModel(client: Client, isDistributed: boolean): Promise<readonly Table[]> {
  await client.query('SAVEPOINT model')
  try {
    const statements = createSchema({ schema: 'pg_temp' }, isDistributed)
    await client.query(statements.filter(text => /^CREATE (?:TABLE|(?:UNIQUE )?INDEX) /m.test(text)).join(';\n'))
    const { rows } = await client.query<{ name: string }>('SELECT pg_my_temp_schema()::regnamespace::text AS name')
    return await readTables(client, rows[0]?.name ?? '')
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT model')
  }
}

/**
 * Yields each difference with the SQL that removes it. What the application has added does not count as a difference,
 * except a column that makes every insert of the package fail.
 */
function* compareTables(
  tables: Tables,
  statements: readonly string[],
  expected: readonly Table[],
  actual: readonly Table[],
): Generator<Finding> {
  for (const model of expected) {
    const place = tables[model.name as keyof Tables]
    const table = actual.find(({ name }) => name === model.name)
    if (table) {
      yield* compareColumns(place, model, table)
      yield* compareConstraints(place, model, table)
      yield* compareIndexes(tables, model, table)
    } else {
      const sql = statements.filter(statement => statement.includes(place))
      const advice = 'Restore it from a backup. Only if you can lose the rows, run:'
      yield wrong('tables', `the table "${model.name}" is missing`, advice, sql)
    }
  }
}

const AS_OWNER = 'Run as the owner of the tables:'

function* compareColumns(place: string, model: Table, table: Table): Generator<Finding> {
  const alter = `ALTER TABLE ${place}`
  for (const column of model.columns) {
    const found = table.columns.find(({ name }) => name === column.name)
    if (!found) {
      const advice = 'If the table has rows, restore a backup. Otherwise run as the owner of the tables:'
      yield wrong('tables', `${model.name}: the column "${column.name}" is missing`, advice, [
        `${alter} ADD COLUMN ${column.name} ${toColumnType(column)}`,
      ])
    } else if (toColumnType(found) !== toColumnType(column)) {
      const difference = `is ${toColumnType(found)}, but must be ${toColumnType(column)}`
      const finding = `${model.name}: the column "${column.name}" ${difference}`
      // A default of the old type may not fit the new type, so it is dropped first.
      const changes = [
        ...(found.default === column.default ? [] : ['DROP DEFAULT']),
        ...(found.type === column.type ? [] : [`TYPE ${column.type}`]),
        ...(found.default === column.default || column.default === null ? [] : [`SET DEFAULT ${column.default}`]),
        ...(found.isRequired === column.isRequired ? [] : [`${column.isRequired ? 'SET' : 'DROP'} NOT NULL`]),
      ]
      yield wrong(
        'tables',
        finding,
        AS_OWNER,
        changes.map(change => `${alter} ALTER COLUMN ${column.name} ${change}`),
      )
    }
  }
  for (const { name, isRequired, default: preset } of table.columns) {
    if (!isRequired || preset !== null || model.columns.some(column => column.name === name)) continue
    const finding = `${model.name}: the added column "${name}" is NOT NULL without a default, so all inserts fail`
    yield wrong('tables', finding, AS_OWNER, [`${alter} ALTER COLUMN ${quoteIdentifier(name)} DROP NOT NULL`])
  }
}

const toColumnType = ({ type, isRequired, default: preset }: Column): string =>
  `${type}${isRequired ? ' NOT NULL' : ''}${preset === null ? '' : ` DEFAULT ${preset}`}`

function* compareConstraints(place: string, model: Table, table: Table): Generator<Finding> {
  for (const { name, definition } of model.constraints) {
    if (table.constraints.some(found => found.definition === definition)) continue
    // A table has at most one primary key, so a different one is dropped first, regardless of its name.
    const inTheWay = table.constraints.find(
      found => found.name === name || (name.endsWith('_pkey') && found.definition.startsWith('PRIMARY KEY')),
    )
    const finding = `${model.name}: ${describeDifference('constraint', name, inTheWay?.definition, definition)}`
    yield wrong('tables', finding, AS_OWNER, [
      ...(inTheWay ? [`ALTER TABLE ${place} DROP CONSTRAINT ${quoteIdentifier(inTheWay.name)}`] : []),
      `ALTER TABLE ${place} ADD CONSTRAINT ${name} ${definition}`,
    ])
  }
}

function* compareIndexes(tables: Tables, model: Table, table: Table): Generator<Finding> {
  for (const { name, definition } of model.indexes.filter(({ isPrimary }) => !isPrimary)) {
    const same = table.indexes.filter(found => found.definition === definition)
    if (same.some(({ isValid }) => isValid)) continue
    const [invalid] = same
    if (invalid) {
      const finding = `${model.name}: the index "${invalid.name}" is invalid: building it was interrupted`
      const sql = `REINDEX INDEX CONCURRENTLY ${tables.schema}.${quoteIdentifier(invalid.name)}`
      yield wrong('tables', finding, AS_OWNER, [sql])
      continue
    }
    const inTheWay = table.indexes.find(found => found.name === name)
    const [, unique = '', rest] = /^(UNIQUE )?(.*)$/s.exec(definition) ?? []
    const finding = `${model.name}: ${describeDifference('index', name, inTheWay?.definition, definition)}`
    yield wrong('tables', finding, AS_OWNER, [
      ...(inTheWay ? [`DROP INDEX ${tables.schema}.${name}`] : []),
      // With CONCURRENTLY, calls continue while the index is built.
      `CREATE ${unique}INDEX CONCURRENTLY ${name} ON ${tables[model.name as keyof Tables]} USING ${rest}`,
    ])
  }
}

const describeDifference = (kind: string, name: string, found: string | undefined, expected: string): string =>
  found === undefined
    ? `the ${kind} "${name}" is missing: ${expected}`
    : `the ${kind} "${name}" is ${found}, but must be ${expected}`

/** Finds invalid indexes beside valid ones: a failed REINDEX CONCURRENTLY leaves `names_by_id_ccnew`, for example. */
function* findLeftovers(tables: Tables, actual: readonly Table[]): Generator<Finding> {
  for (const { name, indexes } of actual.filter(table => Object.hasOwn(tables, table.name))) {
    for (const invalid of indexes.filter(({ isValid }) => !isValid)) {
      const hasTwin = indexes.some(({ isValid, definition }) => isValid && definition === invalid.definition)
      // An index that is needed has a finding already; one of the application's own has no twin either.
      if (!hasTwin) continue
      const finding = `${name}: the index "${invalid.name}" is invalid, and costs time in every insert`
      const advice =
        'Unless it is being built at this moment (pg_stat_progress_create_index), as the owner of the tables:'
      const sql = `DROP INDEX CONCURRENTLY ${tables.schema}.${quoteIdentifier(invalid.name)}`
      yield note('tables', finding, advice, [sql])
    }
  }
}

// The role's rights, and a trial write.

/** The privileges that the stores need on each table. */
export const needed: Readonly<Record<string, readonly string[]>> = {
  names: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  changes: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  locks: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  monitor: ['SELECT', 'INSERT'],
  keys: ['SELECT', 'INSERT', 'UPDATE'],
  version: ['SELECT'],
}

interface Right {
  readonly name: string
  readonly may_use: boolean
  readonly missing: readonly string[]
  readonly hides_rows: boolean
}

async function examineRights(client: Client, schema: string): Promise<Finding[]> {
  const { rows } = await client.query<Right>(
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
  const hidden = rows.filter(({ hides_rows }) => hides_rows).map(({ name }) => name)
  return [
    grants.length === 0
      ? ok('rights', 'the role has all privileges that the stores need')
      : wrong(
          'rights',
          `the role lacks ${grants.length === 1 ? 'a privilege' : 'privileges'}`,
          `As the owner of the tables: ${grants.join('; ')}`,
        ),
    ...(hidden.length === 0
      ? []
      : [
          wrong(
            'rights',
            `row-level security hides rows of ${hidden.join(', ')}`,
            'Give the role BYPASSRLS, or disable row-level security on these tables',
          ),
        ]),
  ]
}

/**
 * Registers and releases a name, adds and revokes a key, and takes another megabyte of the disk, as the stores do, in
 * transactions that are rolled back. Finds a full disk, read-only transactions, and triggers that prevent writing.
 */
async function examineWriting(client: Client, schema: string): Promise<Finding> {
  const place = { database: { query: (text: string, values: unknown[]) => client.query(text, values) }, schema }
  const domain = `doctor-${crypto.randomUUID()}.com`
  try {
    await inTransaction(client, 'BEGIN ISOLATION LEVEL READ COMMITTED', async () => {
      const store = createPostgresStore({ ...place, findTeam, synchronize: () => {} })
      const row = { domainId: createUuidGenerator()(), domain, registrableDomain: domain, teamId: '0' }
      await importDomains(store, [{ ...row, createdAt: new Date(), synchronized: false }])
      await store.release('0', [domain])
    })
    await inTransaction(client, 'BEGIN ISOLATION LEVEL READ COMMITTED', async () => {
      const keys = createPostgresKeyStore(place)
      const { hash, hint } = await generateApiKey({ type: 'team', id: '0' })
      await keys.addKey({ hash, hint, type: 'team', ownerId: '0', scopes: [] })
      await keys.revokeKey(hash)
    })
  } catch (error) {
    return explain(error, 'a name or a key cannot be saved')
  }
  const { rows } = await client.query<{ may: boolean }>(
    "SELECT has_database_privilege(current_database(), 'TEMP') AS may",
  )
  try {
    // A row may fit into an existing page, so a full disk shows only in new pages.
    if (rows[0]?.may) {
      await inTransaction(client, 'BEGIN', () =>
        client.query(`CREATE TEMPORARY TABLE doctor ON COMMIT DROP AS
          SELECT repeat('x', 1000) AS filling FROM generate_series(1, 1000)`),
      )
    }
  } catch (error) {
    return explain(error, 'a name and a key can be saved, but not another megabyte')
  }
  return ok('writing', 'a name and a key can be saved (this was rolled back)')
}

/** The SQLSTATE for a lock that did not become free in time. */
const LOCKED = '55P03'

/** @throws The error, if a lock prevented the check. */
function explain(error: unknown, finding: string): Finding {
  const code = findCode(error) ?? ''
  if (code === LOCKED) throw error
  const causes: string[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) causes.push(cause.message)
  return wrong('writing', `${finding}: ${causes.join(': ')}`, adviceFor[code] ?? 'Fix the cause, and run doctor again')
}

/** Advice, keyed by SQLSTATE. */
const adviceFor: Readonly<Record<string, string>> = {
  '25006': 'Set default_transaction_read_only = off where it was set to on: for the server, the database or the role',
  '42501': 'See "rights"',
  '53100': 'Free space on the disk of the database; then the server continues automatically',
}
