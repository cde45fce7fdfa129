import { quoteIdentifier, SCHEMA_VERSION, toTables } from '../../postgres/schema.ts'
import { compareVersions, type Finding, noTables, ok, wrong } from './finding.ts'
import type { Ask, Place } from './postgres-connection.ts'
import { findPostgresDrift } from './postgres-drift.ts'

/** The privileges that the stores need on each table. */
const needed: Readonly<Record<string, readonly string[]>> = {
  names: ['SELECT', 'INSERT', 'DELETE'],
  changes: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  locks: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  monitor: ['SELECT', 'INSERT'],
  keys: ['SELECT', 'INSERT', 'UPDATE'],
  version: ['SELECT'],
}

interface TableRow {
  readonly name: string
  readonly may_use: boolean
  readonly missing: readonly string[]
  readonly hides_rows: boolean
}

/** Examines the version and the definitions of the tables, and the role's privileges on them. */
export async function* examineTables(ask: Ask, { schema, isDistributed }: Place): AsyncGenerator<Finding> {
  const rows = await ask<TableRow>(
    `SELECT class.relname AS name, has_schema_privilege(place.oid, 'USAGE') AS may_use,
            row_security_active(class.oid) AS hides_rows,
            ARRAY(SELECT needed FROM json_array_elements_text($2::json -> class.relname::text) AS needed
                  WHERE NOT has_table_privilege(class.oid, needed)) AS missing
     FROM pg_class AS class JOIN pg_namespace AS place ON place.oid = class.relnamespace
     WHERE place.nspname = $1 AND class.relkind IN ('r', 'p') AND class.relname IN (SELECT json_object_keys($2::json))
     ORDER BY class.relname`,
    schema,
    JSON.stringify(needed),
  )
  if (rows.length === 0) return yield noTables(`missing: the schema "${schema}" contains none of them`)
  const absent = Object.keys(needed).filter(name => !rows.some(row => row.name === name))
  // If the table that records the version is missing as well, migrate creates all missing tables.
  if (absent.includes('version')) return yield noTables(`some are missing: ${absent.join(', ')}`)
  yield* examineDefinitions(ask, { schema, isDistributed }, rows)
  const rights = examineRights(rows, schema)
  yield rights
  const hidden = rows.filter(row => row.hides_rows).map(({ name }) => name)
  if (hidden.length > 0) {
    const finding = `row-level security hides rows of ${hidden.join(', ')}`
    yield wrong('rights', finding, 'Give the role BYPASSRLS, or disable row-level security on these tables')
  }
}

async function* examineDefinitions(ask: Ask, place: Place, rows: readonly TableRow[]): AsyncGenerator<Finding> {
  const canReadVersion = rows.some(
    ({ name, missing, may_use }) => name === 'version' && may_use && missing.length === 0,
  )
  if (canReadVersion) {
    const select = `SELECT max(version) AS version FROM ${toTables(place).version}`
    const [row] = await ask<{ version: number | null }>(select)
    const finding = compareVersions(row?.version ?? 0, SCHEMA_VERSION)
    if (finding) return yield finding
  }
  let hasDrift = false
  for await (const finding of findPostgresDrift(ask, place)) {
    hasDrift = true
    yield finding
  }
  if (!hasDrift) yield ok('tables', `version ${SCHEMA_VERSION}, as migrate creates them`)
}

function examineRights(rows: readonly TableRow[], schema: string): Finding {
  const place = quoteIdentifier(schema)
  const grants = [
    ...(rows.every(row => row.may_use) ? [] : [`GRANT USAGE ON SCHEMA ${place} TO …`]),
    ...rows
      .filter(({ missing }) => missing.length > 0)
      .map(({ name, missing }) => `GRANT ${missing.join(', ')} ON ${place}.${name} TO …`),
  ]
  if (grants.length === 0) return ok('rights', 'the role has all privileges that the stores need')
  const finding = `the role lacks ${grants.length === 1 ? 'a privilege' : 'privileges'}`
  return wrong('rights', finding, `As the owner of the tables: ${grants.join('; ')}`)
}
