import { createRequire } from 'node:module'

/** Escapes the characters that could control a terminal, except line breaks. All that the program prints is escaped. */
export const toPrintable = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, found => `\\u{${found.codePointAt(0)?.toString(16)}}`)

/** Escapes line breaks too. Meant for text from outside, such as the label of an API key, that is shown in a line. */
export const toLine = (text: string): string => toPrintable(text).replaceAll('\n', '\\u{a}')

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
  const widths = heads.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0),
  )
  return lines
    .map(line => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

function toText(cell: Cell): string {
  if (cell instanceof Date) return cell.toISOString()
  return cell === null || cell === undefined ? '-' : toLine(String(cell))
}

export const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** The width, in characters, of a terminal that help and messages are written for. */
const TERMINAL_WIDTH = 80

/** Breaks a text into lines, which all but the first are indented. */
function wrap(text: string, indent: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length > TERMINAL_WIDTH - indent) lines.push(word)
    else lines.splice(-1, 1, longer)
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

export const toParagraph = (text: string): string => wrap(text, 0)

/** Formats terms and what they mean, in two columns. */
export function toColumns(rows: readonly (readonly [term: string, meaning: string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length)) + 4
  return rows.map(([term, meaning]) => `  ${term}`.padEnd(width) + wrap(meaning, width)).join('\n')
}

export const readVersion = (): string =>
  (createRequire(import.meta.url)('domain-registration/package.json') as { version: string }).version

/** Names a page of the documentation by the path at which `npm install` puts it. */
export const page = (name: string): string => `node_modules/domain-registration/docs/${name}`

/**
 * Returns the known word that was probably meant: one that is a single letter away, or the one that begins most like
 * it, with three letters at least.
 */
export function findSimilar(word: string, known: readonly string[]): string | undefined {
  const near = known.find(each => isNear(word, each))
  if (near !== undefined) return near
  const least = word.startsWith('--') ? 5 : 3
  for (let length = word.length; length >= least; length -= 1) {
    const similar = known.find(each => each.startsWith(word.slice(0, length)))
    if (similar !== undefined) return similar
  }
  return undefined
}

/** Whether one letter was left out, added or changed, or two neighbors were swapped. */
function isNear(word: string, known: string): boolean {
  let same = 0
  while (same < word.length && word[same] === known[same]) same += 1
  const [found, meant] = [word.slice(same), known.slice(same)]
  const swapped = `${meant[1] ?? ''}${meant[0] ?? ''}${meant.slice(2)}`
  return found.slice(1) === meant || found === meant.slice(1) || found.slice(1) === meant.slice(1) || found === swapped
}
