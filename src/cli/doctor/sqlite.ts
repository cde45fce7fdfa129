import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { explainFailure } from '../../sqlite/failures.ts'
import { SCHEMA_VERSION } from '../../sqlite/schema.ts'
import { type Handle, hasTables, openHandle } from '../database.ts'
import { compareVersions, type Finding, noTables, ok, wrong } from './finding.ts'
import { findSqliteDrift } from './sqlite-drift.ts'

/** The first version of SQLite with STRICT tables (sqlite.org/stricttables.html). */
const OLDEST_LIBRARY = [3, 37] as const

/** Examines a file without changing anything. @throws An error if the file cannot be read. */
export async function* examineSqlite(file: string): AsyncGenerator<Finding> {
  if (!existsSync(file)) return yield noTables(`there is no file ${JSON.stringify(file)}`, 'connection')
  const handle = openHandle(file)
  try {
    const first = <Row>(sql: string) => handle.prepare(sql).all()[0] as Row
    // Reads the file, and throws if the file is not a database.
    const isMigrated = hasTables(handle)
    yield ok('connection', `the file ${JSON.stringify(file)}`)
    yield examineLibrary(first<{ version: string }>('SELECT sqlite_version() AS version').version)
    const rights = examineRights(file, handle)
    yield rights
    if (!isMigrated) return yield noTables()
    const row = first<{ version: number | null }>('SELECT max(version) AS version FROM domain_registration_version')
    const version = compareVersions(row.version ?? 0, SCHEMA_VERSION)
    if (version) yield version
    else yield* examineDefinitions(handle)
    if (!version && rights.state === 'ok') yield examineWriting(handle)
  } catch (error) {
    throw explainFailure(error)
  } finally {
    handle.close()
  }
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
