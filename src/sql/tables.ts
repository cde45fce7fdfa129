/** A column that this version of the package needs. */
interface Column {
  readonly table: string
  readonly column: string
  /** The version of the tables with which its table came. */
  readonly since: number
}

/**
 * Returns the columns of the tables that a script creates, which has one column in each line.
 *
 * @param cameWith The version with which a table came, by its name in the script, if not 1.
 */
export const readColumns = (script: string, cameWith: Readonly<Record<string, number>>): readonly Column[] =>
  [...script.matchAll(/^CREATE TABLE IF NOT EXISTS (.+?) \(\n(.+?)^\)/gms)].flatMap(([, table = '', lines = '']) =>
    [...lines.matchAll(/^ {2}([a-z_]+) /gm)].map(([, column = '']) => ({
      table,
      column,
      since: cameWith[table] ?? 1,
    })),
  )

/**
 * Checks the tables that exist. Tables of an earlier version may lack what the migration creates.
 *
 * @param version The version of the tables; 0 if there are none.
 * @param current The version that this package needs.
 * @param missing The needed columns that do not exist.
 * @throws {Error} if a later version of this package created the tables, or if tables or columns of this version are
 *   missing. A lost table is not created anew: with an empty table in its place, names could be registered twice.
 */
export function requireTables(
  { version, current }: { readonly version: number; readonly current: number },
  needed: readonly Column[],
  missing: readonly Column[],
): void {
  if (version > current)
    throw new Error(`The tables have version ${version}; this package supports up to version ${current}`)
  const found = new Set(needed.filter(column => !missing.includes(column)).map(({ table }) => table))
  const lost = missing.filter(({ table, since }) => since <= version && !found.has(table)).map(({ table }) => table)
  if (lost.length > 0)
    throw new Error(`Tables have been dropped, or were not restored: ${[...new Set(lost)].join(', ')}. ${ADVICE}`)
  if (version < current || missing.length === 0) return
  const names = missing.map(({ table, column }) => `${table}.${column}`)
  throw new Error(`The tables lack columns that this version needs: ${names.join(', ')}. ${ADVICE}`)
}

const ADVICE = 'Run "domain-registration doctor"'
