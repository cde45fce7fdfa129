/**
 * Writes an array literal (PostgreSQL documentation, section 8.15.6) with every element in quotes. It is passed as a
 * parameter, so any text is data. Drivers would escape an array element by element, which takes longer.
 */
export function toArrayLiteral(elements: readonly (string | null)[]): string {
  // The common case: nothing to escape.
  const isPlain = elements.length > 0 && !elements.includes(null) && !SPECIAL.test(elements.join(''))
  if (isPlain) return `{"${elements.join('","')}"}`
  return `{${elements.map(element => (element === null ? 'NULL' : quote(element))).join(',')}}`
}

const SPECIAL = /["\\]/
const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
