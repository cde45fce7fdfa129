/**
 * Shortens text from another system to one line, for an error, a log or a table. Replaces characters that control a
 * terminal, reorder the text or are invisible in it.
 *
 * @param length The maximum length, in UTF-16 code units.
 */
export const toPlainText = (text: string, length: number): string =>
  text.slice(0, length).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
