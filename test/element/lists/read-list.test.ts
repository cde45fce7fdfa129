import { describe, expect, test } from 'vitest'
import { type PastedList, readFile, readList } from '../../../src/element/lists/read-list.ts'

function read(text: string): PastedList {
  const steps = readList(text)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
/** The names that are added if the user keeps the column that the element has chosen. */
function namesOf(text: string): readonly string[] {
  const list = read(text)
  return 'names' in list ? list.names : (list.columns[list.likely]?.cells ?? [])
}

test.each<[what: string, text: string, names: string[]]>([
  ['lines, with blank lines and blanks around', ' a.com \r\n\r\n*.b.com\n', ['a.com', '*.b.com']],
  ['names in one line', 'a.com, b.com;c.com  d.com', ['a.com', 'b.com', 'c.com', 'd.com']],
  ['several names in each line', 'a.com,b.com\nc.com,d.com\ne.com,', ['a.com', 'b.com', 'c.com', 'd.com', 'e.com']],
  ['a line that is no list of names', 'see a.com, please', ['see a.com, please']],
  ['cells of one column, with its title', 'Domain\na.com\nb.com', ['a.com', 'b.com']],
  ['quoted cells of one column', '"Domain name"\n"a.com"', ['a.com']],
  ['names in one row of cells', 'a.com\tb.com\tc.com\n', ['a.com', 'b.com', 'c.com']],
  ['one row of cells', 'Acme\ta.com\t2024-01-01', ['a.com']],
  ['the line of Excel that names the delimiter', '\uFEFFsep=;\r\nName;Host\r\nA;a.com\r\n', ['a.com']],
  ['a hosts file', '9.9.9.9 a.com\n9.9.9.10 b.com c.com', ['a.com', 'b.com', 'c.com']],
  ['a hosts file with tabs', '9.9.9.9\ta.com\n9.9.9.10\tb.com\tc.com', ['a.com', 'b.com', 'c.com']],
  ['a hosts file with IPv6', '2620:fe::9 a.com\n2620:fe::fe b.com', ['a.com', 'b.com']],
  ['addresses, commas and names', '9.9.9.9,a.com\n9.9.9.10,b.com', ['a.com', 'b.com']],
  ['names before their addresses', 'a.com;9.9.9.9\nb.com;2620:fe::9', ['a.com', 'b.com']],
  ['a column of addresses before names', 'IP\tHost\tOwner\n9.9.9.9\ta.com\tA\n9.9.9.10\tb.com\tB', ['a.com', 'b.com']],
  ['names and an address in one line', 'a.com, 9.9.9.9, b.com', ['a.com', '9.9.9.9', 'b.com']],
  ['rows that mix names and addresses', 'a.com,9.9.9.9\n9.9.9.10,b.com', ['a.com', '9.9.9.9', '9.9.9.10', 'b.com']],
  ['JSON over several lines', '[\n  "a.com",\n  "b.com"\n]\n', ['a.com', 'b.com']],
  ['lines of punctuation', '---\na.com\n- - -\n…\n*.b.com\n*\n', ['a.com', '*.b.com', '*']],
  ['commas of other scripts', 'a.com، b.com、c.com', ['a.com', 'b.com', 'c.com']],
  ['cells of a spreadsheet', 'No\tHost\tOwner\n1\ta.com\tx@y.com\n2\tb.com\tz@y.com', ['a.com', 'b.com']],
  ['CSV without titles', '1;a.com;1.5\n2;b.com;2.25\n', ['a.com', 'b.com']],
  ['CSV with quotes', 'note,host\r\n"a ""b"", c","a.com"\r\n"two\nlines",b.com', ['a.com', 'b.com']],
  ['an unclosed quote', 'host,note\na.com,"x\nb.com,y', ['a.com', 'b.com']],
  ['an unclosed quote before another', 'note,host\n"x,a.com\ny,b.com\n"z",c.com', ['a.com', 'b.com', 'c.com']],
  ['IP addresses', 'ip,version\n192.0.2.1,1.5\n192.0.2.2,2.5', ['192.0.2.1', '192.0.2.2']],
])('reads %s', (_, text, names) => {
  expect(namesOf(text)).toEqual(names)
})

test.each<[text: string, line: number | undefined]>([
  ['host,note\r\na.com,"x\r\nb.com,"y', 2],
  ['a.com,b.com\nc.com,d.com\n"e.com,f.com', 3],
  ['note,host\n"two\nlines",a.com\n"x,b.com\ny,c.com', 4],
  ['note,host\n"two\nlines",a.com\n"x ""y"" z",b.com', undefined],
])('the first line with a quote that is not closed is told: %j', (text, line) => {
  expect(read(text).openQuote).toBe(line)
})

test('columns have the titles of the first row, if it has no name', () => {
  expect(read('No\tHost\n1\ta.com')).toMatchObject({
    columns: [
      { title: 'No', cells: ['1'] },
      { title: 'Host', cells: ['a.com'] },
    ],
    likely: 1,
  })
  expect(read('1\ta.com\n2\tb.com')).toMatchObject({ columns: [{ title: '' }, { title: '' }], likely: 1 })
})

test('a wide table keeps only the cells that are not empty', () => {
  const list = read(`Host${';'.repeat(24_000)}Note\n${'b.com;\n'.repeat(6000)}`)
  const columns = 'columns' in list ? list.columns : []
  expect(columns.map(({ number, title, cells }) => [number, title, cells.length])).toEqual([
    [1, 'Host', 6000],
    [24_001, 'Note', 0],
  ])
  expect(read(';'.repeat(24_000))).toEqual({ names: [] })
  expect(read(`${';'.repeat(24_000)}\n;;`)).toEqual({ names: [] })
})

test('a line that is longer than any name is split, whatever is among its names', () => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.com`)
  expect(namesOf(`9.9.9.9 ${names.join(' ')} - localhost`)).toEqual([...names, 'localhost'])
})

test('a long line without a name is one entry', () => {
  const dots = `a${'.'.repeat(80_000)}`
  expect(namesOf(dots)).toEqual([dots])
})

test('a line of 200,000 names is as many names', () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `n${index}.com`)
  expect(namesOf(names.join(', '))).toHaveLength(200_000)
})

test('a list of 200,000 lines is read at once', () => {
  const lines = Array.from({ length: 200_000 }, (_, index) => `${index};n${index}.com;"x"`)
  expect(namesOf(lines.join('\n'))).toHaveLength(200_000)
})

describe('a file', () => {
  test.each<[encoding: string, bytes: number[]]>([
    ['UTF-8', [0x62, 0xc3, 0xbc, 0x2e, 0x64, 0x65]],
    ['UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, 0x62, 0xc3, 0xbc, 0x2e, 0x64, 0x65]],
    ['UTF-16', [0xff, 0xfe, 0x62, 0, 0xfc, 0, 0x2e, 0, 0x64, 0, 0x65, 0]],
    ['UTF-16 with the higher byte first', [0xfe, 0xff, 0, 0x62, 0, 0xfc, 0, 0x2e, 0, 0x64, 0, 0x65]],
    ['Windows-1252', [0x62, 0xfc, 0x2e, 0x64, 0x65]],
  ])('in %s is read', async (_, bytes) => {
    expect(await readFile(new Blob([new Uint8Array(bytes)]))).toBe('bü.de')
  })

  test('that is a workbook is not read as text', async () => {
    expect(await readFile(new Blob([new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 6, 0])]))).toBeUndefined()
  })
})
