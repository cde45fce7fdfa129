import { type Tables, toTables } from '../../postgres/schema.ts'
import { AS_OWNER, type Finding, wrong } from './finding.ts'
import type { Ask, Place } from './postgres-connection.ts'
import {
  type Column,
  type Constraint,
  type ExpectedTable,
  type Index,
  readExpectedTables,
  type Table,
} from './postgres-schema.ts'

/**
 * Compares the tables with those that `migrate` creates, and yields each difference with the SQL that removes it. Reads
 * only catalogs, which any role may read. Columns, constraints and indexes that the application has added do not count
 * as differences, except a column that makes every insert of the package fail.
 */
export async function* findPostgresDrift(ask: Ask, place: Place): AsyncGenerator<Finding> {
  const tables = toTables(place)
  const found = await readTables(ask, place.schema)
  for (const expected of readExpectedTables(place)) {
    const table = tables[expected.name as keyof Tables]
    const actual = found.get(expected.name)
    if (actual) {
      yield* compareColumns(table, expected, actual)
      yield* compareConstraints(table, expected, actual)
      yield* compareIndexes(tables.schema, expected, actual)
    } else {
      const indexes = [...expected.indexStatements.values()]
      const sql = [expected.statement, ...indexes]
      yield differs(
        `the table "${expected.name}" is missing`,
        sql,
        'Restore it from a backup. Only if you can lose the rows, run:',
      )
    }
  }
}

const differs = (finding: string, sql: readonly string[], advice = AS_OWNER) => wrong('tables', finding, advice, sql)

function* compareColumns(table: string, expected: ExpectedTable, actual: Table): Generator<Finding> {
  for (const [name, column] of expected.columns) {
    const found = actual.columns.get(name)
    if (found === undefined) {
      const advice = 'If the table has rows, restore a backup. Otherwise run as the owner of the tables:'
      yield differs(
        `${expected.name}: the column "${name}" is missing`,
        [`ALTER TABLE ${table} ADD COLUMN ${name} ${describe(column)}`],
        advice,
      )
    } else if (describe(found) !== describe(column)) {
      const changes = alterColumn(name, found, column).map(change => `ALTER TABLE ${table} ALTER COLUMN ${change}`)
      yield differs(
        `${expected.name}: the column "${name}" is ${describe(found)}, but must be ${describe(column)}`,
        changes,
      )
    }
  }
  for (const [name, { isRequired, default: preset }] of actual.columns) {
    if (expected.columns.has(name) || !isRequired || preset !== undefined) continue
    yield differs(`${expected.name}: the added column "${name}" is NOT NULL without a default, so all inserts fail`, [
      `ALTER TABLE ${table} ALTER COLUMN "${name.replaceAll('"', '""')}" DROP NOT NULL`,
    ])
  }
}

const describe = ({ type, isRequired, default: preset }: Column): string =>
  `${type}${isRequired ? ' NOT NULL' : ''}${preset === undefined ? '' : ` DEFAULT ${preset}`}`

function alterColumn(name: string, found: Column, { type, isRequired, default: preset }: Column): string[] {
  const [plainType] = type.split(' ')
  return [
    // Drops a default first, because a default of the old type may not fit the new type.
    ...(found.default === preset ? [] : [`${name} DROP DEFAULT`]),
    ...(found.type === type ? [] : [`${name} TYPE ${type} USING ${name}::${plainType}`]),
    ...(found.default === preset || preset === undefined ? [] : [`${name} SET DEFAULT ${preset}`]),
    ...(found.isRequired === isRequired ? [] : [`${name} ${isRequired ? 'SET' : 'DROP'} NOT NULL`]),
  ]
}

function* compareConstraints(table: string, expected: ExpectedTable, actual: Table): Generator<Finding> {
  for (const { name, definition } of expected.constraints) {
    if (actual.constraints.some(found => isSame(found, definition))) continue
    // A table can have only one primary key, so a different one is dropped first, regardless of its name.
    const inTheWay = actual.constraints.find(
      found => found.name === name || (name.endsWith('_pkey') && found.definition.startsWith('PRIMARY KEY')),
    )
    yield differs(`${expected.name}: ${describeDifference('constraint', name, inTheWay?.definition, definition)}`, [
      ...(inTheWay ? [`ALTER TABLE ${table} DROP CONSTRAINT "${inTheWay.name.replaceAll('"', '""')}"`] : []),
      `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`,
    ])
  }
}

function* compareIndexes(schema: string, expected: ExpectedTable, actual: Table): Generator<Finding> {
  for (const { name, definition } of expected.indexes) {
    const same = actual.indexes.filter(found => isSame(found, definition))
    if (same.some(({ isValid }) => isValid)) continue
    const [invalid] = same
    if (invalid) {
      const finding = `${expected.name}: the index "${invalid.name}" is invalid: building it was interrupted`
      yield differs(finding, [`REINDEX INDEX CONCURRENTLY ${schema}."${invalid.name.replaceAll('"', '""')}"`])
      continue
    }
    const inTheWay = actual.indexes.find(found => found.name === name)
    // With CONCURRENTLY, calls continue while the index is built.
    const create = expected.indexStatements.get(name)?.replace('INDEX IF NOT EXISTS', 'INDEX CONCURRENTLY') as string
    yield differs(`${expected.name}: ${describeDifference('index', name, inTheWay?.definition, definition)}`, [
      ...(inTheWay ? [`DROP INDEX ${schema}.${name}`] : []),
      create,
    ])
  }
}

const describeDifference = (kind: string, name: string, found: string | undefined, expected: string): string =>
  found === undefined
    ? `the ${kind} "${name}" is missing: ${expected}`
    : `the ${kind} "${name}" is ${found}, but must be ${expected}`

const isSame = (found: Constraint | Index, definition: string): boolean =>
  toComparable(found.definition) === toComparable(definition)

/**
 * Makes definitions comparable. When PostgreSQL shows an expression, it adds parentheses and types, and writes `IN` as
 * `= ANY`.
 */
const toComparable = (definition: string): string =>
  definition
    .replaceAll(/::\w+/g, '')
    .replaceAll(/= ANY \(ARRAY\[(.*?)\]\)/g, 'IN $1')
    .replaceAll(/[()\s]+/g, ' ')
    .trim()

interface Row {
  readonly table: string
  readonly columns: readonly ({ readonly name: string } & Omit<Column, 'default'> & {
      readonly default: string | null
    })[]
  readonly constraints: readonly Constraint[]
  readonly indexes: readonly Index[]
}

const SELECT_TABLES = `
SELECT class.relname AS "table",
  (SELECT coalesce(json_agg(json_build_object('name', attname, 'isRequired', attnotnull,
      'type', replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') ||
        coalesce(' COLLATE ' || quote_ident(collname), ''),
      'default', pg_get_expr(adbin, adrelid)) ORDER BY attnum), '[]')
   FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
     LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     LEFT JOIN pg_collation ON pg_collation.oid = attcollation AND attcollation <> typcollation
   WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped) AS columns,
  (SELECT coalesce(json_agg(json_build_object('name', conname, 'definition', pg_get_constraintdef(oid))), '[]')
   FROM pg_constraint WHERE conrelid = class.oid AND contype IN ('p', 'u', 'c')) AS constraints,
  (SELECT coalesce(json_agg(json_build_object('name', place.relname, 'isValid', indisvalid AND indisready, 'definition',
      CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END ||
      regexp_replace(substr(pg_get_indexdef(indexrelid), length(format('CREATE %sINDEX %I ON %I.%I USING ',
        CASE WHEN indisunique THEN 'UNIQUE ' ELSE '' END, place.relname, nspname, class.relname)) + 1),
        ' WITH \\([^)]*\\)', ''))), '[]')
   FROM pg_index JOIN pg_class AS place ON place.oid = indexrelid WHERE indrelid = class.oid) AS indexes
FROM pg_class AS class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = $1 AND relkind IN ('r', 'p')`

async function readTables(ask: Ask, schema: string): Promise<ReadonlyMap<string, Table>> {
  const rows = await ask<Row>(SELECT_TABLES, schema)
  return new Map(
    rows.map(({ table, columns, ...rest }) => {
      const entries = columns.map(({ name, default: preset, ...column }): [string, Column] => [
        name,
        { ...column, default: preset ?? undefined },
      ])
      return [table, { name: table, columns: new Map(entries), ...rest }]
    }),
  )
}
