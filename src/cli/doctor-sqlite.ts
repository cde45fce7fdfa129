import { existsSync } from 'node:fs'
import { SCHEMA_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import { compareVersions, type Examination, type Finding, findDrift, ok, type Part, wrong } from './checks.ts'
import { type Handle, hasTables, openHandle, selectVersion, toMigrateAdvice } from './database.ts'

/** How many kinds of damage a finding names. */
const SHOWN_DAMAGE = 3

/** Examines a file without changing anything. */
export function examineSqlite(file: string): Examination {
  const advice = `C${toMigrateAdvice(file).slice(1)}`
  let handle: Handle
  return {
    checks: [
      [
        'connection',
        () => {
          if (!existsSync(file)) return wrong(`there is no file ${JSON.stringify(file)}`, advice)
          handle = openHandle(file)
          // Reads the file, and throws if the file is not a database.
          hasTables(handle)
          return ok(`the file ${JSON.stringify(file)}`)
        },
      ],
      ['engine', () => findVersion(handle)],
      ['file', () => examineFile(handle)],
      ['tables', () => (hasTables(handle) ? examineTables(handle) : wrong('missing', advice))],
      ['writing', () => examineWriting(handle)],
    ],
    close: () => void handle?.close(),
  }
}

function findVersion(handle: Handle): Finding {
  const [{ version }] = handle.prepare('SELECT sqlite_version() AS version').all() as [{ version: string }]
  return ok(`SQLite ${version}`)
}

/**
 * Lets SQLite check the whole file. The quicker `quick_check` would miss an index that disagrees with its table, with
 * which a name could be registered twice (sqlite.org/pragma.html#pragma_integrity_check).
 */
function examineFile(handle: Handle): Finding {
  const rows = handle.prepare(`PRAGMA integrity_check(${SHOWN_DAMAGE})`).all() as object[]
  const damage = rows.map(row => Object.values(row).join()).filter(text => text !== 'ok')
  if (damage.length === 0) return ok('undamaged, according to integrity_check')
  return wrong(`damaged: ${damage.join('; ')}`, 'Stop your server, and restore the file from a backup')
}

function examineTables(handle: Handle): readonly Finding[] {
  const [row] = handle.prepare(selectVersion('domain_registration_version')).all() as [{ version: number | null }]
  const version = compareVersions(row.version ?? 0, SCHEMA_VERSION)
  if (version) return [version]
  const model = openHandle(':memory:')
  try {
    const differences = [...findSqliteDrift(handle, model)]
    return differences.length > 0 ? differences : [ok(`version ${SCHEMA_VERSION}, as migrate creates them`)]
  } finally {
    model.close()
  }
}

/** A table or an index. */
interface SqlitePart extends Part {
  /** The SQL that created it, as stored by SQLite. */
  readonly sql: string
}

/** @param model An empty database, in which the expected tables are created. */
export function findSqliteDrift(handle: Handle, model: Handle): Generator<Finding> {
  model.exec(sqliteSchema())
  const expected = readParts(model)
  return findDrift(expected, readParts(handle), (part, found) => {
    const parts = expected.filter(({ table }) => table === part.table).map(({ sql }) => sql)
    const recreate = () => rebuild(part, readColumns(model, part.name), readColumns(handle, part.name), parts.slice(1))
    const drop = found ? [`DROP INDEX ${part.name}`] : []
    const sql = part.kind === 'index' ? [...drop, part.sql] : found ? recreate() : parts
    return ['Back up the file, stop your server, and run:', sql]
  })
}

/**
 * Rebuilds the table as described in sqlite.org/lang_altertable.html, section 7. A copy of the old table is kept,
 * because it may have columns that the package does not know.
 */
function rebuild(
  { name, sql }: SqlitePart,
  expected: readonly string[],
  actual: readonly string[],
  indexes: readonly string[],
): string[] {
  const common = expected.filter(column => actual.includes(column)).join(', ')
  return [
    'PRAGMA foreign_keys = OFF',
    'BEGIN IMMEDIATE',
    `CREATE TABLE ${name}_before AS SELECT * FROM ${name}`,
    sql.replace(name, `${name}_new`),
    ...(common === '' ? [] : [`INSERT INTO ${name}_new (${common}) SELECT ${common} FROM ${name}`]),
    `DROP TABLE ${name}`,
    `ALTER TABLE ${name}_new RENAME TO ${name}`,
    ...indexes,
    'COMMIT',
  ]
}

const readColumns = (handle: Handle, table: string): string[] =>
  (handle.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[]).map(row => row.name)

/** The package's tables and indexes, each table before its indexes. What SQLite creates by itself has no SQL. */
const readParts = (handle: Handle): SqlitePart[] =>
  (
    handle
      .prepare(
        `SELECT tbl_name AS "table", type AS kind, name, sql FROM sqlite_schema
         WHERE sql IS NOT NULL AND type IN ('table', 'index') AND tbl_name LIKE 'domain_registration_%' ORDER BY rowid`,
      )
      .all() as Omit<SqlitePart, 'definition'>[]
  ).map(part => ({ ...part, definition: toComparable(part.sql) }))

/** Removes comments, quotes and spaces, with which the same definition may have been written. */
const toComparable = (sql: string): string =>
  sql
    .replaceAll(/--.*/g, '')
    .replaceAll(/"(\w+)"/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()

/** Saves a row in each table that stores write to, then rolls back. Finds locks, a read-only file, and a full disk. */
function examineWriting(handle: Handle): Finding {
  // With such a small cache, SQLite writes to disk before the commit.
  handle.exec('PRAGMA cache_size = 1')
  try {
    handle.exec(`BEGIN IMMEDIATE; ${SAVE_ROWS}`)
    return ok('a row can be saved in each table (this was rolled back)')
  } finally {
    try {
      handle.exec('ROLLBACK')
    } catch {
      // After some failures, SQLite has already rolled back.
    }
  }
}

/** Rows with a name, an ID and a hash that no call could create. The label adds a megabyte of data. */
const SAVE_ROWS = `
INSERT INTO domain_registration_names
  (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
  VALUES ('#doctor', '#doctor', '#doctor', '#doctor', '', '#doctor', 0);
INSERT INTO domain_registration_changes (domain_id, kind, domain, registrable_domain, team_id, due, since)
  VALUES ('#doctor', 'released', '#doctor', '#doctor', '#doctor', 0, 0);
INSERT INTO domain_registration_monitor VALUES (0);
INSERT INTO domain_registration_keys (hash, type, owner_id, scopes, label, created_at)
  VALUES ('#doctor', 'team', '#doctor', '[]', hex(zeroblob(500000)), 0)`
