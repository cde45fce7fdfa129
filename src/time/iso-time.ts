/**
 * Reads a time in the format of `Date.prototype.toISOString`, such as `2026-11-22T10:00:00.000Z`. `Date` alone would
 * read "2020-02-31" as a day in March, and a time without a zone as local time.
 *
 * @returns `undefined` if the text has another format, or if there is no such time.
 */
export function readIsoTime(text: string): Date | undefined {
  const date = new Date(text)
  return date.toJSON() === text ? date : undefined
}
