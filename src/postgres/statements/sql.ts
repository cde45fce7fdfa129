import { toSelectList } from '../../sql/rows.ts'

/** One SQL statement with parameters. */
export interface Statement<Row = never> {
  /** The name of the prepared statement on each connection. A statement without a name is not prepared. */
  readonly name: string
  readonly text: string
  /** Never set; only carries the type of a result row. */
  readonly row?: Row
}

/** A value of a parameter. */
export type Value = Element | undefined | readonly Element[]

/** A single value of a parameter. */
export type Element = string | number | null

/**
 * Creates a statement that each connection plans once, perhaps while the tables are empty. So the plan must be right
 * for tables of any size. The name of the statement also depends on the SQL, because several versions of this package,
 * or several schemas, may share a connection.
 */
export const prepared = <Row = never>(name: string, text: string): Statement<Row> => ({
  name: `domain_registration_${name}_${checksum(text)}`,
  text,
})

/** Creates a statement that is planned each time, for the current size of the tables. */
export const unprepared = <Row = never>(text: string): Statement<Row> => ({ name: '', text })

/** FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16)
}

export const isRead = ({ text }: Statement<unknown>) => text.startsWith('SELECT')

/**
 * Writes an array literal (PostgreSQL documentation, section 8.15.6) with every element in quotes. The literal is
 * passed as a parameter, so any string is treated as data. Drivers would escape one element at a time, which is slower.
 */
export function toArrayLiteral(elements: readonly Element[]): string {
  // In the common case, there is nothing to escape.
  const isPlain = elements.length > 0 && !elements.includes(null) && !SPECIAL.test(elements.join(''))
  if (isPlain) return `{"${elements.join('","')}"}`
  return `{${elements.map(element => (element === null ? 'NULL' : quoteElement(String(element)))).join(',')}}`
}

const SPECIAL = /["\\]/

const quoteElement = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Returns the parameters of a statement on many rows: one array for each of the given properties. */
export const toArrays = <Name extends string>(
  rows: readonly Readonly<Record<Name, Element>>[],
  ...names: readonly Name[]
): Element[][] => names.map(name => rows.map(row => row[name]))

/**
 * SQL that converts a time to milliseconds since 1970. The result is a string, because drivers return times and large
 * numbers in different forms.
 */
export const toMilliseconds = (time: string) => `round(extract(epoch FROM ${time}) * 1000)::bigint::text`

/** SQL that converts milliseconds since 1970 to a time. */
export const toTime = (milliseconds: string) => `to_timestamp(${milliseconds} / 1000)`

/** A setting that has a value only within the store's own transaction. */
export const TOKEN = 'domain_registration.transaction'

/**
 * A condition of each change, whose `$1` is {@link Transaction.token}. In any other transaction it does not hold, so
 * nothing changes. It is a condition of its own, because not every engine accepts it within an expression.
 */
export const isOurs = `($1::text IS NULL OR current_setting('${TOKEN}', true) = $1::text)`

/** A result row of a statement that returns the IDs of the rows that it changed. */
export interface Id {
  readonly domainId: string
}

export const returningId = `RETURNING ${toSelectList<Id>({ domainId: 'domain_id::text' })}`
