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

/**
 * Reads a list of names, one per line or separated by blanks, commas or semicolons; CSV (RFC 4180), also with
 * semicolons; or cells copied from a spreadsheet, which are separated by tabs. Whether a name is a valid hostname is
 * left to the service. A generator, so that the caller may pause after each line.
 */
export function* readList(pasted: string): Generator<void, PastedList> {
  // Excel may write a byte order mark, and a line that names the delimiter.
  const [, named, text = ''] = /^\uFEFF?(?:sep=([;,\t|])\r?\n)?(.*)$/s.exec(pasted) ?? []
  const lines = text.split(/\r\n?|\n/).filter(line => line.trim() !== '')
  const delimiter = (named as Delimiter | undefined) ?? findDelimiter(lines)
  if (delimiter === undefined) return { names: yield* readLines(unquote(lines)) }
  const { rows, openQuote } = yield* readCells(text, delimiter)
  if (rows.length === 0) return { names: [] }
  const isTitled = !rows[0]?.some(looksLikeName)
  // Without cells that are empty, of which a wide table may have any number.
  const columns: { number: number; title: string; cells: string[]; names: number; isFilled: boolean }[] = []
  for (const [index, row] of rows.entries()) {
    yield
    for (const [place, cell] of row.entries()) {
      if (cell === '') continue
      columns[place] ??= { number: place + 1, title: '', cells: [], names: 0, isFilled: false }
      const column = columns[place]
      if (isTitled && index === 0) column.title = cell
      else column.cells.push(cell)
      if (looksLikeName(cell)) column.names += 1
      if (index > 0) column.isFilled = true
    }
  }
  const present = Object.values(columns)
  // A list with several names in each line has only columns of names.
  const areAllNames = present.every(({ names, isFilled }) => !isFilled || names > rows.length / 2)
  if (!isTitled && rows.length > 1 && areAllNames) return { names: rows.flat().filter(cell => cell !== ''), openQuote }
  const most = present.reduce((most, { names }) => Math.max(most, names), 0)
  return {
    openQuote,
    columns: present,
    likely: Math.max(
      0,
      present.findIndex(({ names }) => names === most),
    ),
  }
}

/** Finds the end of a cell, by the delimiter of the table. */
const cellEnds = {
  '\t': /\t|\r\n?|\n|$/g,
  ';': /;|\r\n?|\n|$/g,
  ',': /,|\r\n?|\n|$/g,
  '|': /\||\r\n?|\n|$/g,
} as const
type Delimiter = keyof typeof cellEnds

/** A delimiter that most lines have. A single line is a table only if tabs separate its cells. */
const findDelimiter = (lines: readonly string[]): Delimiter | undefined =>
  (lines.length > 1 ? (['\t', ';', ','] as const) : (['\t'] as const)).find(
    each => lines.filter(line => line.includes(each)).length > lines.length / 2,
  )

/** A column of CSV: quotes around every line. */
function unquote(lines: readonly string[]): readonly string[] {
  const inner = lines.flatMap(line => /^\s*"([^"]+)"\s*$/.exec(line)?.[1] ?? [])
  return inner.length === lines.length ? inner : lines
}

function* readLines(lines: readonly string[]): Generator<void, readonly string[]> {
  const names: string[] = []
  for (const line of lines) {
    names.push(...readLine(line))
    yield
  }
  // The title of a column is left out: a first line without a dot, above a name.
  const [first = '', second = ''] = names
  return !/[.:]/.test(first) && looksLikeName(second) ? names.slice(1) : names
}

/** Splits a line only if all its parts look like names. Otherwise the service says what is wrong with the line. */
function readLine(line: string): readonly string[] {
  const parts = line.split(/[\s,;\u060C\u3001]+/).filter(part => part !== '')
  if (parts.length < 2 || !parts.every(looksLikeName)) return [line.trim()]
  // A line of a hosts file: an address, and the names that it has.
  return isAddress(parts[0] as string) && !isAddress(parts[1] as string) ? parts.slice(1) : parts
}

const isAddress = (cell: string): boolean => /^\d+(?:\.\d+){3}$/.test(cell)

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
    if (end === delimiter && place < text.length) continue
    if (row.some(each => each !== '')) rows.push(row)
    row = []
    yield
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
