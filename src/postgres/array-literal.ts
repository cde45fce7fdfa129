/**
 * Writes an array as PostgreSQL reads it (documentation, section 8.15.6), every element in quotes. As a parameter, so that
 * any text is data; in one piece, since drivers take several times as long over an array.
 */
export const toArrayLiteral = (elements: readonly (string | null)[]): string =>
  `{${elements.map(element => (element === null ? 'NULL' : quote(element))).join(',')}}`

const quote = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
