import { sqliteSchema } from '../../sqlite/schema.ts'
import type { Handle } from '../database.ts'
import { type Finding, wrong } from './finding.ts'

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
