import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createKindOf, parseRuns } from '../../../src/hostname/idna/code-point-runs.ts'
import { unicode } from '../../../src/hostname/idna/tables.ts'
import { isLong } from '../../counts.ts'

const script = new URL('../../../src/hostname/idna/make-tables.mjs', import.meta.url)

test.runIf(isLong)(
  'the tables are what `npm run make:tables` makes from the Unicode data (in the long run)',
  {
    timeout: 60_000,
  },
  async () => {
    const { makeTables } = (await import(script.href)) as { makeTables: () => Promise<string> }
    expect(await makeTables()).toBe(readFileSync(new URL('tables.ts', script), 'utf8'))
  },
)

test('the tables have the Unicode version of this runtime, or a newer version', () => {
  const [major = 0] = unicode.split('.').map(Number)
  const runtime = Number.parseInt(process.versions.unicode ?? '', 10)
  const advice = `Unicode ${runtime} is out: update @unicode/unicode-* and tr46, then npm run make:tables`
  expect(runtime, advice).toBeLessThanOrEqual(major)
  expect(unicode).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/)
})

test('a table of runs is parsed as documented, and each code point gets the kind of its run', () => {
  const table = '_1A2BC1_zzD'
  expect(parseRuns(table)).toEqual([
    { first: 0, last: 1, kind: '_' },
    { first: 2, last: 4, kind: 'A' },
    { first: 5, last: 5, kind: 'B' },
    { first: 6, last: 7, kind: 'C' },
    { first: 8, last: 1303, kind: '_' },
    { first: 1304, last: 1304, kind: 'D' },
  ])
  const kindOf = createKindOf(table)
  const kinds = [0, 1, 2, 4, 5, 6, 7, 8, 1303, 1304, 1305].map(kindOf)
  expect(kinds.join('')).toBe('__AABCC__D_')
})
