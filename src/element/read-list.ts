/** What somebody pasted or dropped: names, or a table of which one column has the names. */
export type PastedList =
  | { readonly names: readonly string[] }
  | {
      readonly columns: readonly Column[]
      /** The index of the column that most likely has the names. */
      readonly likely: number
    }

interface Column {
  /** From the first row if that has titles; otherwise empty. */
  readonly title: string
  readonly cells: readonly string[]
}

/**
 * Reads a list of names, one per line or separated by blanks, commas or semicolons; CSV (RFC 4180), also with
 * semicolons; or cells copied from a spreadsheet, which are separated by tabs. Whether a name is a valid hostname is
 * left to the service.
 */
export function readList(text: string): PastedList {
  const lines = text.split(/\r\n?|\n/).filter(line => line.trim() !== '')
  const delimiter = ['\t', ';', ','].find(
    each => lines.length > 1 && lines.filter(line => line.includes(each)).length > lines.length / 2,
  )
  if (delimiter === undefined) return { names: lines.flatMap(readLine) }
  const rows = readCells(text, delimiter)
  const width = rows.reduce((widest, { length }) => Math.max(widest, length), 0)
  const columns = Array.from({ length: width }, (_, index) => rows.map(cells => cells[index] ?? ''))
  const counts = columns.map(cells => cells.filter(looksLikeName).length)
  const isTitled = !rows[0]?.some(looksLikeName)
  const filled = counts.filter((_, index) => columns[index]?.slice(1).some(cell => cell !== ''))
  // A list with several names in each line has only columns of names.
  if (!isTitled && filled.every(count => count > rows.length / 2)) {
    return { names: rows.flat().filter(cell => cell !== '') }
  }
  return {
    columns: columns.map(([first = '', ...others]) =>
      isTitled ? { title: first, cells: others } : { title: '', cells: [first, ...others] },
    ),
    likely: counts.indexOf(Math.max(...counts)),
  }
}

/** Splits a line only if all its parts look like names. Otherwise the service says what is wrong with the line. */
function readLine(line: string): readonly string[] {
  const parts = line.split(/[\s,;]+/).filter(part => part !== '')
  return parts.length > 1 && parts.every(looksLikeName) ? parts : [line.trim()]
}

/** Whether a cell may be meant as a hostname: `a.com`, `*.a.com`, `https://a.com/path`, `192.0.2.1`; not `1.5`. */
function looksLikeName(cell: string): boolean {
  return /^\d+(?:\.\d+){3}$/.test(cell) || /^[^\s@,;]+\.[^\s@,;.\d][^\s@,;]*$/.test(cell)
}

function readCells(text: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let place = 0
  while (place < text.length) {
    let cell = ''
    if (text[place] === '"') {
      // Skips pairs of quotes, each of which stands for one quote.
      let close = text.indexOf('"', place + 1)
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      const stop = close < 0 ? text.length : close
      cell = text.slice(place + 1, stop).replaceAll('""', '"')
      place = stop + 1
    }
    const from = place
    while (place < text.length && text[place] !== delimiter && text[place] !== '\n' && text[place] !== '\r') place += 1
    row.push((cell + text.slice(from, place)).trim())
    if (text[place] !== delimiter) {
      if (text[place] === '\r' && text[place + 1] === '\n') place += 1
      if (row.some(each => each !== '')) rows.push(row)
      row = []
    }
    place += 1
  }
  if (row.some(each => each !== '')) rows.push(row)
  return rows
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
