import { looksLikeKey } from '../keys/api-key.ts'

/**
 * Escapes the characters that could control a terminal. Meant for text from outside, such as the label of an API key.
 */
export const toPrintable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, found => `\\u{${found.codePointAt(0)?.toString(16)}}`)

/** Converts a value to JSON. Also escapes characters that JSON allows, but that could control a terminal. */
export const toJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replace(/[\x7f-\x9f\p{Cf}\u2028\u2029]/gu, found =>
    found.replace(/./gs, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )

type Cell = string | number | Date | null | undefined

/** Formats rows as columns. If there are no rows, returns the sentence in `none` instead. */
export function toTable(heads: readonly string[], rows: readonly (readonly Cell[])[], none: string): string {
  if (rows.length === 0) return `${none}\n`
  const lines = [heads, ...rows.map(row => row.map(toText))]
  const widths = heads.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines
    .map(line => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

function toText(cell: Cell): string {
  if (cell instanceof Date) return cell.toISOString()
  return cell === null || cell === undefined ? '-' : toPrintable(String(cell))
}

export const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** Describes an error and its causes, without secrets. */
export function explainError(error: unknown, secrets: readonly string[]): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause) {
    const inner = cause instanceof AggregateError && !cause.message ? (cause.errors[0] as Error) : cause
    const message = inner.message || String((inner as { code?: unknown }).code ?? inner.name)
    if (!messages.some(said => said.includes(message))) messages.push(message)
  }
  return conceal(messages.join(': ') || 'unknown failure', secrets)
}

/** Hides passwords, and strings that look like API keys. */
export function conceal(text: string, secrets: readonly string[]): string {
  const shown = secrets.reduce((rest, secret) => rest.replaceAll(secret, '(hidden)'), text)
  return shown.replace(/\S+/g, word => (looksLikeKey(word) ? '(hidden)' : word))
}
