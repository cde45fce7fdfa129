import type { Statement } from './connection.ts'

/** Names a statement by its text as well, since versions of this package and schemas may share a connection. */
export const prepare = <Row = never>(name: string, text: string): Statement<Row> => ({
  name: `domain_registration_${name}_${checksum(text)}`,
  text,
})

/** FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16)
}
