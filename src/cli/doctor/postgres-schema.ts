import { createSchema } from '../../postgres/schema.ts'
import type { Place } from './postgres-connection.ts'

/** A table, either as `migrate` creates it or as it exists in the database. */
export interface Table {
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  readonly constraints: readonly Constraint[]
  readonly indexes: readonly Index[]
}

export interface Column {
  /** The type, followed by its collation if that is not the type's default. */
  readonly type: string
  readonly isRequired: boolean
  readonly default: string | undefined
}

export interface Constraint {
  /** The name that PostgreSQL generates. */
  readonly name: string
  readonly definition: string
}

export interface Index {
  readonly name: string
  /** The definition: `UNIQUE`, the method, the columns and the condition. */
  readonly definition: string
  readonly isValid: boolean
}

/** A table of the package, with the SQL that creates it. */
export interface ExpectedTable extends Table {
  readonly statement: string
  /** The SQL that creates each index, keyed by the name of the index. */
  readonly indexStatements: ReadonlyMap<string, string>
}

const CREATE_TABLE = /^CREATE TABLE IF NOT EXISTS .+\.(\w+) \(\n(.*)\n\)$/s
const CREATE_INDEX = /^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) ON .+\.(\w+) (?:USING (\w+) )?(\(.*)$/s

/** Parses the tables from the SQL that `migrate` runs. This SQL has one column or constraint on each line. */
export function readExpectedTables({ schema, isDistributed }: Place): ExpectedTable[] {
  const statements = createSchema({ schema }, isDistributed).map(text => withoutComments(text).trim())
  return statements.flatMap(statement => {
    const [, name, lines = ''] = CREATE_TABLE.exec(statement) ?? []
    if (name === undefined) return []
    const indexes = statements.flatMap(text => {
      const [, unique = '', index, table, method = 'btree', rest] = CREATE_INDEX.exec(text) ?? []
      return table === name && index !== undefined ? [{ name: index, definition: unique + method + rest, text }] : []
    })
    return {
      ...readTable(name, lines.split(/,?\n/)),
      statement,
      indexes: indexes.map(({ name, definition }) => ({ name, definition, isValid: true })),
      indexStatements: new Map(indexes.map(({ name, text }) => [name, text])),
    }
  })
}

/** Removes comments. In this SQL, two hyphens always begin a comment, because no string contains them. */
const withoutComments = (sql: string): string =>
  sql
    .split('\n')
    .map(line => line.split('--', 1).join('').trimEnd())
    .join('\n')

function readTable(name: string, lines: readonly string[]): Pick<Table, 'name' | 'columns' | 'constraints'> {
  const columns = new Map<string, Column>()
  const constraints: Constraint[] = []
  for (const line of lines.map(text => text.trim())) {
    if (line.startsWith('PRIMARY KEY')) {
      constraints.push({ name: `${name}_pkey`, definition: line })
      continue
    }
    const [, column = '', type = '', rest = ''] = /^(\w+) (\S+(?: COLLATE "C")?)(?: (.*))?$/.exec(line) ?? []
    const isKey = rest.includes('PRIMARY KEY')
    const [, check] = /(CHECK .*)/.exec(rest) ?? []
    columns.set(column, {
      type,
      isRequired: isKey || rest.includes('NOT NULL'),
      default: /DEFAULT (\S+)/.exec(rest)?.[1],
    })
    if (isKey) constraints.push({ name: `${name}_pkey`, definition: `PRIMARY KEY (${column})` })
    if (check !== undefined) constraints.push({ name: `${name}_${column}_check`, definition: check })
  }
  return { name, columns, constraints }
}
