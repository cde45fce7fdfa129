import type { Engine } from './engine.ts'
import { prepared, type Statement, unprepared } from './statement.ts'

/** A statement that inserts so many rows. */
export type Insert = (length: number) => Statement

interface Insertion {
  readonly name: string
  readonly into: string
  /** The types of the first parameters, which are arrays. */
  readonly types: readonly string[]
  /** Returns the row of one element of each array, as SQL. */
  toRow(elements: readonly string[]): string
  readonly onConflict?: string
}

/**
 * Makes an `INSERT` of the elements of arrays. Without `onConflict` it fails if a trigger of yours skips a row, since
 * what is not there must not be answered. Citus has no triggers.
 */
export function createInsert(engine: Engine, { name, into, types, toRow, onConflict = '' }: Insertion): Insert {
  if (engine === 'Citus') {
    return length => unprepared(`INSERT INTO ${into} ${toValues(types, length, toRow)} ${onConflict}`)
  }
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`)
  const elements = types.map((_, index) => `element_${index + 1}`)
  const text = `INSERT INTO ${into}
       SELECT ${toRow(elements)} FROM unnest(${arrays.join(', ')}) AS asked (${elements.join(', ')}) ${onConflict}`
  const complete = `WITH inserted AS (${text} RETURNING 1)
     SELECT 1 / (count(*) = cardinality($1::${types[0]}[]))::integer AS complete FROM inserted`
  const statement = prepared(name, onConflict === '' ? complete : text)
  return () => statement
}

/** Returns the rows of array parameters as a list of values, which Citus sends to their shards. */
function toValues(types: readonly string[], length: number, toRow: (elements: readonly string[]) => string) {
  const rows = Array.from({ length }, (_, row) =>
    toRow(types.map((type, index) => `($${index + 1}::${type}[])[${row + 1}]`)),
  )
  return `VALUES ${rows.map(row => `(${row})`).join(', ')}`
}
