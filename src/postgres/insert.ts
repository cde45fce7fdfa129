import type { Engine } from './engine.ts'
import { prepared, type Statement, unprepared, type Value } from './statement.ts'

type Row = readonly (string | number | null)[]

/** Creates a statement that inserts rows, and the parameters of the statement. */
export type Insert = (rows: readonly Row[], ...shared: readonly Value[]) => readonly [Statement, ...Value[]]

interface Insertion {
  readonly name: string
  readonly into: string
  /** The types of the values that differ from row to row. */
  readonly types: readonly string[]
  /** The types of the values that all rows share. */
  readonly shared?: readonly string[]
  /** Returns the SQL of a row, from its own values and the shared values. */
  toRow(values: readonly string[], shared: readonly string[]): string
  readonly onConflict?: string
}

/**
 * Creates an `INSERT`. Without `onConflict`, the statement fails if one of your triggers skips a row, because such a
 * row must not be reported as saved. On Citus there are no triggers.
 */
export function createInsert(
  engine: Engine,
  { name, into, types, shared = [], toRow, onConflict = '' }: Insertion,
): Insert {
  const toParameters = (types: readonly string[], first: number) =>
    types.map((type, index) => `$${first + index}::${type}`)

  if (engine === 'Citus') {
    // Passes each value as its own parameter, so Citus sends the values of a row only to the shard of that row. Arrays
    // would be sent to every shard, and each shard would unpack all rows.
    return (rows, ...values) => {
      const ofAll = toParameters(shared, 1)
      const lists = rows.map((_, row) => toRow(toParameters(types, 1 + shared.length + row * types.length), ofAll))
      const text = `INSERT INTO ${into} VALUES ${lists.map(list => `(${list})`).join(', ')} ${onConflict}`
      return [unprepared(text), ...values, ...rows.flat()]
    }
  }

  const arrays = toParameters(types, 1).map(parameter => `${parameter}[]`)
  const elements = types.map((_, index) => `element_${index + 1}`)
  const text = `INSERT INTO ${into}
       SELECT ${toRow(elements, toParameters(shared, 1 + types.length))}
       FROM unnest(${arrays.join(', ')}) AS asked (${elements.join(', ')}) ${onConflict}`
  const complete = `WITH inserted AS (${text} RETURNING 1)
     SELECT 1 / (count(*) = cardinality(${arrays[0]}))::integer AS complete FROM inserted`
  const statement = prepared(name, onConflict === '' ? complete : text)
  return (rows, ...values) => [
    statement,
    ...types.map((_, column) => rows.map(row => row[column] as string | number | null)),
    ...values,
  ]
}
