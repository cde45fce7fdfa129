import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { explainFailure } from '../sqlite/connection.ts'
import { SCHEMA_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import { type Handle, hasTables, openHandle, selectVersion, toMigrateAdvice } from './database.ts'
import { compareVersions, type Finding, ok, wrong } from './finding.ts'

/** The first version of SQLite with STRICT tables (sqlite.org/stricttables.html). */
const OLDEST_LIBRARY = [3, 37] as const

/** Examines a file without changing anything. @throws An error if the file cannot be read. */
export async function* examineSqlite(file: string): AsyncGenerator<Finding> {
  const advice = toMigrateAdvice(file)
  if (!existsSync(file)) {
    return yield wrong('connection', `there is no file ${JSON.stringify(file)}`, `C${advice.slice(1)}`)
  }
  const handle = openHandle(file)
  try {
    // Reads the file, and throws if the file is not a database.
    const isMigrated = hasTables(handle)
    yield ok('connection', `the file ${JSON.stringify(file)}`)
    const [library] = handle.prepare('SELECT sqlite_version() AS version').all() as [{ version: string }]
    yield examineLibrary(library.version)
    const damage = examineFile(handle)
    yield damage
    if (damage.state === 'wrong') return
    const rights = examineRights(file, handle)
    yield rights
    if (!isMigrated) return yield wrong('tables', 'missing', `C${advice.slice(1)}`)
    const [row] = handle.prepare(selectVersion('domain_registration_version')).all() as [{ version: number | null }]
    const version = compareVersions(row.version ?? 0, SCHEMA_VERSION)
    if (version) return yield version
    yield* examineDefinitions(handle)
    if (rights.state === 'ok') yield examineWriting(handle)
  } catch (error) {
    throw explainFailure(error)
  } finally {
    handle.close()
  }
}

/** How many kinds of damage a finding names. */
const SHOWN_DAMAGE = 3

/**
 * Lets SQLite check the whole file. The quicker `quick_check` would miss an index that disagrees with its table, with
 * which a name could be registered twice (sqlite.org/pragma.html#pragma_integrity_check).
 */
function examineFile(handle: Handle): Finding {
  const rows = handle.prepare(`PRAGMA integrity_check(${SHOWN_DAMAGE})`).all() as object[]
  const damage = rows.map(row => Object.values(row).join()).filter(text => text !== 'ok')
  if (damage.length === 0) return ok('file', 'undamaged, according to integrity_check')
  return wrong('file', `damaged: ${damage.join('; ')}`, 'Stop your server, and restore the file from a backup')
}

function* examineDefinitions(handle: Handle): Generator<Finding> {
  const model = openHandle(':memory:')
  try {
    const findings = [...findSqliteDrift(handle, model)]
    if (findings.length === 0) yield ok('tables', `version ${SCHEMA_VERSION}, as migrate creates them`)
    yield* findings
  } finally {
    model.close()
  }
}

function examineLibrary(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < OLDEST_LIBRARY[0] || (major === OLDEST_LIBRARY[0] && minor < OLDEST_LIBRARY[1])
  if (!isOld) return ok('engine', `SQLite ${version}`)
  return wrong('engine', `SQLite ${version}`, `Use SQLite ${OLDEST_LIBRARY.join('.')} or later`)
}

/** SQLite writes its log to a file next to the database, so the folder must also be writable. */
function examineRights(file: string, handle: Handle): Finding {
  for (const path of [file, dirname(resolve(file))]) {
    try {
      accessSync(path, constants.W_OK)
    } catch {
      const finding = `this user may not write to ${JSON.stringify(path)}`
      return wrong('rights', finding, 'Make the file and its folder writable')
    }
  }
  try {
    handle.exec('BEGIN IMMEDIATE')
    handle.exec('ROLLBACK')
  } catch (error) {
    const finding = (explainFailure(error) as Error).message
    return wrong('rights', finding, 'Find out which process has locked the file, and run doctor again')
  }
  return ok('rights', 'this user may write to the file and its folder')
}

/** Saves extra data and a row in each table, then rolls everything back. Detects a full disk. */
function examineWriting(handle: Handle): Finding {
  // With such a small cache, SQLite writes to disk before the commit.
  handle.exec('PRAGMA cache_size = 1')
  try {
    handle.exec(`BEGIN IMMEDIATE; ${SAVE_ROWS}`)
    return ok('writing', 'a row can be saved in each table (it was rolled back)')
  } catch (error) {
    const finding = `a row cannot be saved: ${(explainFailure(error) as Error).message}`
    return wrong('writing', finding, 'Free space on the disk, and run doctor again')
  } finally {
    rollBack(handle)
  }
}

function rollBack(handle: Handle): void {
  try {
    handle.exec('ROLLBACK')
  } catch {
    // After some failures, SQLite has already rolled back.
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

// The definitions of the tables, beside those that `migrate` creates.

/** A table or an index, with the SQL that created it, as stored by SQLite. */
interface Part {
  readonly type: 'table' | 'index'
  readonly name: string
  readonly tbl_name: string
  readonly sql: string
}

const PREFIX = 'domain_registration_'

/**
 * Compares the tables with those that `migrate` creates, and yields each difference with the SQL that removes it. The
 * application's own tables and indexes do not count as differences.
 *
 * @param model An empty database, in which the expected tables are created.
 */
export function* findSqliteDrift(actual: Handle, model: Handle): Generator<Finding> {
  model.exec(sqliteSchema())
  const found = new Map(readParts(actual).map(part => [part.name, part]))
  const expected = readParts(model)
  for (const table of expected.filter(({ type }) => type === 'table')) {
    const indexes = expected.filter(({ type, tbl_name }) => type === 'index' && tbl_name === table.name)
    const statements = indexes.map(({ sql }) => sql)
    const is = found.get(table.name)
    if (!is) {
      yield differs(`the table "${table.name}" is missing`, [table.sql, ...statements])
    } else if (toComparable(is.sql) !== toComparable(table.sql)) {
      const finding = `the table "${table.name}" differs from what migrate creates: ${toComparable(is.sql)}`
      yield differs(finding, [...rebuild(table, readColumns(model, table), readColumns(actual, table)), ...statements])
    } else {
      yield* compareIndexes(indexes, found)
    }
  }
}

const differs = (finding: string, sql: readonly string[]) =>
  wrong('tables', finding, 'Back up the file, stop your server, and run:', sql)

function* compareIndexes(expected: readonly Part[], found: ReadonlyMap<string, Part>): Generator<Finding> {
  for (const { name, sql } of expected) {
    const is = found.get(name)
    if (!is) yield differs(`the index "${name}" is missing`, [sql])
    else if (toComparable(is.sql) !== toComparable(sql)) {
      yield differs(`the index "${name}" differs from what migrate creates: ${toComparable(is.sql)}`, [
        `DROP INDEX ${name}`,
        sql,
      ])
    }
  }
}

/**
 * Rebuilds the table as described in sqlite.org/lang_altertable.html, section 7. If the table has columns that the
 * package does not know, a copy of the old table is kept.
 */
function rebuild({ name, sql }: Part, expected: readonly string[], actual: readonly string[]): string[] {
  const [copy, common] = [`${name}_new`, expected.filter(column => actual.includes(column)).join(', ')]
  const hasOthers = actual.some(column => !expected.includes(column))
  return [
    'PRAGMA foreign_keys = OFF',
    'BEGIN IMMEDIATE',
    ...(hasOthers ? [`CREATE TABLE ${name}_before AS SELECT * FROM ${name}`] : []),
    sql.replace(name, copy),
    ...(common === '' ? [] : [`INSERT INTO ${copy} (${common}) SELECT ${common} FROM ${name}`]),
    `DROP TABLE ${name}`,
    `ALTER TABLE ${copy} RENAME TO ${name}`,
    'COMMIT',
  ]
}

const readColumns = (handle: Handle, { name }: Part): string[] =>
  (handle.prepare('SELECT name FROM pragma_table_info(?)').all(name) as { name: string }[]).map(row => row.name)

/** Skips objects that SQLite creates automatically, which have no SQL. */
const readParts = (handle: Handle): Part[] =>
  handle
    .prepare(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND tbl_name LIKE '${PREFIX}%' ORDER BY rowid`,
    )
    .all() as Part[]

const toComparable = (sql: string): string =>
  sql
    .split('\n')
    .map(line => line.split('--', 1).join(''))
    .join('\n')
    .replaceAll(/"(\w+)"/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()
