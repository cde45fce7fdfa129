import type { Statement } from './connection.ts'

/**
 * Makes a statement that each connection plans once, perhaps while the tables are empty: the plan must be right for
 * tables of any size. The name depends on the text too, since versions of this package and schemas may share a
 * connection.
 */
export const prepare = <Row = never>(name: string, text: string): Statement<Row> => ({
  name: `domain_registration_${name}_${checksum(text)}`,
  text,
})

/** Makes a statement that is planned each time, for the size that the tables have then. */
export const unprepared = <Row = never>(text: string): Statement<Row> => ({ name: '', text })

/** FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16)
}
