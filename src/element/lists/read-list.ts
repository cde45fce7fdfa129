import { MAX_INPUT_LENGTH } from '../../hostname/ldh-name.ts'

/** What somebody pasted or dropped: names, or a table of which one column has the names. */
export type PastedList = ({ readonly names: readonly string[] } | PastedTable) & {
  /** The first line, from 1, with a quote that is not closed. */
  readonly openQuote?: number | undefined
}

export interface PastedTable {
  readonly columns: readonly Column[]
  /** The index of the column that most likely has the names. */
  readonly likely: number
}

interface Column {
  /** Its place in the table, from 1. */
  readonly number: number
  /** From the first row if that has titles; otherwise empty. */
  readonly title: string
  /** Those that are not empty. */
  readonly cells: readonly string[]
}

/** How many bytes or characters are read: ten times as much as 100,000 names have. */
export const MOST_READ = 20_000_000

/**
 * Reads a list of names, one per line or separated by blanks, commas or semicolons; CSV (RFC 4180), also with
 * semicolons; or cells copied from a spreadsheet, which are separated by tabs. Whether a name is a valid hostname is
 * left to the service. A generator, so that the caller may pause after each line.
 */
export function* readList(pasted: string): Generator<void, PastedList> {
  // Excel may write a byte order mark, and a line that names the delimiter.
  const [, named, text = ''] = /^\uFEFF?(?:sep=([;,\t|])\r?\n)?(.*)$/s.exec(pasted) ?? []
  const { lines, most } = yield* splitLines(text)
  const delimiter = (named as Delimiter | undefined) ?? most
  if (delimiter === undefined) return { names: yield* readLines(lines) }
  const { rows, openQuote } = yield* readCells(text, delimiter)
  if (rows.length === 0) return { names: [] }
  const isTitled = !rows[0]?.some(looksLikeName)
  // Without cells that are empty, of which a wide table may have any number.
  const columns: (Column & {
    readonly cells: string[]
    title: string
    names: number
    addresses: number
    isFilled: boolean
  })[] = []
  for (const [index, row] of rows.entries()) {
    yield
    for (const [place, cell] of row.entries()) {
      if (!mayBeName(cell)) continue
      columns[place] ??= { number: place + 1, title: '', cells: [], names: 0, addresses: 0, isFilled: false }
      const column = columns[place]
      if (isTitled && index === 0) column.title = cell
      else column.cells.push(cell)
      if (looksLikeName(cell)) column.names += 1
      if (isAddress(cell)) column.addresses += 1
      if (index > 0 || rows.length === 1) column.isFilled = true
    }
  }
  const present = Object.values(columns)
  // Beside a column of names, a column of addresses says where these are.
  const isOfAddresses = ({ names, addresses }: (typeof columns)[number]) => addresses > names / 2
  const ofNames = present.filter(column => column.names > 0 && !isOfAddresses(column))
  const wanted = ofNames.length > 0 ? present.filter(column => !isOfAddresses(column)) : present
  // A list with several names in each line has only columns of names.
  const areAllNames = wanted.every(({ names, cells, isFilled }) => !isFilled || names > cells.length / 2)
  if (!isTitled && areAllNames) {
    const places = new Set(wanted.map(({ number }) => number - 1))
    return { names: rows.flatMap(row => row.filter((cell, place) => places.has(place) && mayBeName(cell))), openQuote }
  }
  const likely = wanted.reduce((best, each) => (each.names > best.names ? each : best), wanted[0] as (typeof wanted)[0])
  return { openQuote, columns: present, likely: present.indexOf(likely) }
}

/** Finds the end of a cell, by the delimiter of the table. */
const cellEnds = {
  '\t': /\t|\r\n?|\n|$/g,
  ';': /;|\r\n?|\n|$/g,
  ',': /,|\r\n?|\n|$/g,
  '|': /\||\r\n?|\n|$/g,
} as const
type Delimiter = keyof typeof cellEnds

/**
 * @returns The lines that may have a name, and the delimiter that most of them have. A single line is a table only if
 *   tabs separate its cells. If each line is in quotes, as in a column of CSV or in JSON, the lines are without them.
 */
function* splitLines(text: string) {
  const lines: string[] = []
  const unquoted: string[] = []
  const counts = { '\t': 0, ';': 0, ',': 0 }
  const delimiters = Object.keys(counts) as (keyof typeof counts)[]
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    yield
    if (!mayBeName(line)) continue
    lines.push(line)
    for (const each of delimiters) if (line.includes(each)) counts[each] += 1
    const [, inner] = /^"([^"]+)"\s*,?$/.exec(line.trim()) ?? []
    if (inner !== undefined) unquoted.push(inner)
  }
  const most: Delimiter | undefined = delimiters.find(
    each => (lines.length > 1 || each === '\t') && counts[each] > lines.length / 2,
  )
  return unquoted.length === lines.length ? { lines: unquoted } : { lines, most }
}

function* readLines(lines: readonly string[]): Generator<void, readonly string[]> {
  const names: string[] = []
  for (const line of lines) {
    // The service would not say what is wrong with it.
    const isLong = line.length > MAX_INPUT_LENGTH
    const parts: string[] = []
    for (const [part] of line.matchAll(/[^\s,;\u060C\u3001]+/g)) {
      if (!isLong || mayBeName(part)) parts.push(part)
      yield
    }
    // A short line is split only if all its parts look like names. Otherwise the service says what is wrong with it.
    const isList = parts.length > 1 && (isLong || parts.every(looksLikeName))
    const [first = '', second = ''] = parts
    // A line of a hosts file has an address and its names.
    const from = isAddress(first) && !isAddress(second) ? 1 : 0
    if (isList) for (const part of parts.slice(from)) names.push(part)
    else names.push(line.trim())
  }
  // The title of a column is left out: a first line without a dot, above a name.
  const [first = '', second = ''] = names
  return !/[.:]/.test(first) && looksLikeName(second) ? names.slice(1) : names
}

const isAddress = (cell: string): boolean =>
  /^\d+(?:\.\d+){3}$/.test(cell) || (/^[\da-f:.]+$/i.test(cell) && /::|(?::.*){7}/.test(cell))

/** Whether there is more in it than punctuation, such as the brackets around a list. */
const mayBeName = (text: string): boolean => /[\p{L}\p{N}*]/u.test(text)

/** Whether a cell may be meant as a hostname: `a.com`, `*.a.com`, `https://a.com/path`, `192.0.2.1`; not `1.5`. */
const looksLikeName = (cell: string): boolean =>
  isAddress(cell) || (!/[\s@,;\u060C\u3001]/.test(cell) && /[^.]\.[^.\d]/.test(cell))

/**
 * Reads cells. A quote that is not closed before the end, or closed only after lines with names, was meant as a quote.
 */
function* readCells(text: string, delimiter: Delimiter) {
  const rows: string[][] = []
  const ends = cellEnds[delimiter]
  let openQuote: number | undefined
  let row: string[] = []
  for (let place = 0; place < text.length; ) {
    let cell = ''
    if (text[place] === '"') {
      // Skips pairs of quotes, each of which stands for one quote.
      let close = text.indexOf('"', place + 1)
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      const inner = text.slice(place + 1, Math.max(close, 0))
      const [, ...others] = inner.split(/[\r\n]/)
      const isClosed = close >= 0 && !others.some(line => line.split(delimiter).some(looksLikeName))
      if (isClosed) cell = inner.replaceAll('""', '"')
      else openQuote ??= text.slice(0, place).split(/\r\n?|\n/).length
      place = isClosed ? close + 1 : place + 1
    }
    ends.lastIndex = place
    const [end, at] = [ends.exec(text)?.[0] ?? '', ends.lastIndex]
    row.push((cell + text.slice(place, at - end.length)).trim())
    place = at
    yield
    if (end === delimiter && place < text.length) continue
    if (row.some(mayBeName)) rows.push(row)
    row = []
    if (end === '') break
  }
  return { rows, openQuote }
}

/**
 * Reads a dropped file as text: UTF-8, UTF-16 with a byte order mark, or otherwise Windows-1252, in which older
 * spreadsheets save CSV.
 *
 * @returns `undefined` if the file is not text, for instance an Excel workbook.
 */
export async function readFile(file: Blob): Promise<string | undefined> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  if (bytes.subarray(0, 4096).includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
