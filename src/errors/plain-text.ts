/**
 * Shortens another system's text for an error, a log or a table: one line, without characters that control a terminal,
 * reorder the text or hide in it.
 *
 * @param length In UTF-16 code units.
 */
export const toPlainText = (text: string, length: number): string =>
  text.slice(0, length).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
