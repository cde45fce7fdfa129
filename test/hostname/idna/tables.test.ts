import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createKindOf, parseRuns } from '../../../src/hostname/idna/code-point-runs.ts'
import { unicode } from '../../../src/hostname/idna/tables.ts'
import { unicodeVersion } from './by-tr46.ts'

const tables = new URL('../../../src/hostname/idna/tables.ts', import.meta.url)

// Only `npm run test:tables` installs what the script needs.
test.runIf(process.env.REFEREE)('the tables are what `npm run make:tables` makes', async () => {
  const script = new URL('../../../updates/make-tables.mjs', import.meta.url)
  const { makeTables } = (await import(script.href)) as { makeTables: () => Promise<string> }
  expect(await makeTables()).toBe(readFileSync(tables, 'utf8'))
  expect(unicode).toBe(unicodeVersion)
})

test('the tables have the Unicode version of this runtime, or a newer version', () => {
  const runtime = Number.parseInt(process.versions.unicode ?? '', 10)
  const advice = `Unicode ${runtime} is out: see "Data from elsewhere" in CONTRIBUTING.md`
  expect(runtime, advice).toBeLessThanOrEqual(Number.parseInt(unicode, 10))
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
