/**
 * Writes an array as PostgreSQL reads it (documentation, section 8.15.6), every element in quotes. As a parameter, so
 * that any text is data; in one piece, since drivers escape an array element by element.
 */
export function toArrayLiteral(elements: readonly (string | null)[]): string {
  // The common case: one test of all elements.
  const isPlain = elements.length > 0 && !elements.includes(null) && !SPECIAL.test(elements.join(''))
  if (isPlain) return `{"${elements.join('","')}"}`
  return `{${elements.map(element => (element === null ? 'NULL' : quote(element))).join(',')}}`
}

const SPECIAL = /["\\]/
const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
