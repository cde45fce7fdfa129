import { existsSync } from 'node:fs'
import { toDriver } from '../sqlite/driver.ts'
import { findVersion, SCHEMA_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import {
  compareParts,
  compareVersions,
  type Examination,
  type Finding,
  ok,
  type Part,
  TRIAL_TEAM,
  tryStatements,
  wrong,
} from './checks.ts'
import { type Handle, hasTables, openHandle, toMigrateAdvice } from './database.ts'

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
      ['engine', () => examineEngine(handle)],
      ['file', () => examineFile(handle)],
      ['tables', () => (hasTables(handle) ? examineTables(handle, openHandle(':memory:')) : wrong('missing', advice))],
      ['writing', () => examineWriting(handle)],
    ],
    close: () => void handle?.close(),
  }
}

function examineEngine(handle: Handle): Finding {
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

/** @param model An empty database, in which the expected tables are created. Closed in the end. */
export function examineTables(handle: Handle, model: Handle): readonly Finding[] {
  try {
    const version = compareVersions(findVersion(toDriver(handle)), SCHEMA_VERSION)
    if (version) return [version]
    model.exec(sqliteSchema())
    return compareParts(readParts(model), readParts(handle), SCHEMA_VERSION)
  } finally {
    model.close()
  }
}

/** The package's tables, indexes and their triggers. What SQLite creates by itself has no SQL. */
const readParts = (handle: Handle): Part[] =>
  (
    handle
      .prepare(
        `SELECT tbl_name AS "table", type AS kind, name, sql AS definition FROM sqlite_schema
         WHERE sql IS NOT NULL AND tbl_name LIKE 'domain_registration_%' ORDER BY rowid`,
      )
      .all() as Part[]
  ).map(part => ({ ...part, definition: toComparable(part.definition) }))

/** Removes comments, quotes and spaces, with which the same definition may have been written. */
const toComparable = (sql: string): string =>
  sql
    .replaceAll(/--.*/g, '')
    .replaceAll(/"(\w+)"/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()

/**
 * Saves, changes and deletes a row in each table that stores write to, and rolls back. Finds locks, a read-only file, a
 * full disk, and triggers that refuse or skip rows.
 */
async function examineWriting(handle: Handle): Promise<Finding> {
  // With such a small cache, SQLite writes to disk before the commit.
  handle.exec('PRAGMA busy_timeout = 1000; PRAGMA cache_size = 1; BEGIN IMMEDIATE')
  try {
    return await tryStatements(trial, sql => handle.prepare(`${sql} RETURNING 1`).all().length)
  } finally {
    try {
      handle.exec('ROLLBACK')
    } catch {
      // After some failures, SQLite has already rolled back.
    }
  }
}

const [names, changes, keys] = ['names', 'changes', 'keys'].map(table => `domain_registration_${table}`)
const team = `coalesce((SELECT team_id FROM ${names} LIMIT 1), '${TRIAL_TEAM}')`

/** Rows with a name, an ID and a hash that no call could create. The label adds a megabyte of data. */
const trial = [
  `INSERT INTO ${names} (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
   VALUES ('#doctor', '#doctor', '#doctor', '#doctor', '', ${team}, 0)`,
  `INSERT INTO ${changes} (domain_id, kind, domain, registrable_domain, team_id, due, since)
   VALUES ('#doctor', 'released', '#doctor', '#doctor', ${team}, 0, 0)`,
  `INSERT INTO ${keys} (hash, type, owner_id, scopes, label, created_at)
   VALUES ('#doctor', 'team', '#doctor', '[]', hex(zeroblob(500000)), 0)`,
  `UPDATE ${names} SET team_id = team_id WHERE domain_id = '#doctor'`,
  `UPDATE ${changes} SET due = due WHERE domain_id = '#doctor'`,
  `UPDATE ${keys} SET label = label WHERE hash = '#doctor'`,
  `DELETE FROM ${names} WHERE domain_id = '#doctor'`,
  `DELETE FROM ${changes} WHERE domain_id = '#doctor'`,
  `DELETE FROM ${keys} WHERE hash = '#doctor'`,
]
