import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { createKindOf, NONE, parseRuns } from '../../src/hostname/code-point-runs.ts'
import { readCodePoints, readPunctuation, UNICODE } from './by-tr46.ts'

const LAST_CODE_POINT = 0x10ffff

/** What tr46 is made of; its tables of UTS #46 are those of Unicode 17.0.0. */
const require = createRequire(import.meta.url)
const { unicodeVersion } = require('tr46/package.json') as { unicodeVersion: string }
const { STATUS_MAPPING } = require('tr46/lib/statusMapping.js') as { STATUS_MAPPING: Readonly<Record<string, number>> }
const mappingTable = require('tr46/lib/mappingTable.json') as [number | [number, number], number, string?][]
const { combiningClassVirama } = require('tr46/lib/regexes.js') as { combiningClassVirama: RegExp }

/** RFC 5892 has conditions for these, or allows them outright (U+0F0B). */
const contextual = [0xb7, 0x375, 0x5f3, 0x5f4, 0xf0b, 0x30fb]

/** What UTS #46 maps and Unicode has had only since version 16 (DerivedAge.txt): a runtime may not know it yet. */
const newlyMapped = new Set(
  [
    [0x1c89, 0x1c89],
    [0xa7cb, 0xa7cc],
    [0xa7ce, 0xa7ce],
    [0xa7d2, 0xa7d2],
    [0xa7d4, 0xa7d4],
    [0xa7da, 0xa7da],
    [0xa7dc, 0xa7dc],
    [0xa7f1, 0xa7f1],
    [0x10d50, 0x10d65],
    [0x16ea0, 0x16eb8],
    [0x1ccd6, 0x1ccf9],
  ].flatMap(([first = 0, last = 0]) => Array.from({ length: last - first + 1 }, (_, index) => first + index)),
)

/** What UTS #46 says of each code point. */
const uts46 = mappingTable.flatMap(([range, status, mapping]) => {
  const [first, last] = typeof range === 'number' ? [range, range] : range
  return Array.from({ length: last - first + 1 }, (_, index) => ({ codePoint: first + index, status, mapping }))
})

const categories = (...names: string[]) => readCodePoints(...names.map(name => `General_Category/${name}`))

/** `[property, kind]`, the first that applies. */
async function createKinds(...rows: [property: string, kind: string][]): Promise<(codePoint: number) => string> {
  const sets = await Promise.all(rows.map(async ([property, kind]) => [await readCodePoints(property), kind] as const))
  return codePoint => sets.find(([codePoints]) => codePoints.has(codePoint))?.[1] ?? ''
}

const isVirama = (codePoint: number) => combiningClassVirama.test(String.fromCodePoint(codePoint))

/** The kinds of the characters that a hostname may hold, by `characters.ts`. */
async function createKindsOfCharacters(): Promise<(codePoint: number) => string> {
  const punctuation = await readPunctuation()
  for (const codePoint of contextual) punctuation.delete(codePoint)
  const marks = await categories('Mark')
  const directionOf = await createKinds(
    ['Bidi_Class/Left_To_Right', 'L'],
    ['Bidi_Class/Right_To_Left', 'R'],
    ['Bidi_Class/Arabic_Letter', 'R'],
    ['Bidi_Class/Arabic_Number', 'A'],
    ['Bidi_Class/European_Number', 'E'],
  )
  const byCodePoint = new Map(uts46.map(entry => [entry.codePoint, entry]))
  const isLeft = (codePoint: number) => {
    const status = byCodePoint.get(codePoint)?.status
    if (codePoint < 0x80) return /[a-z0-9-]/.test(String.fromCodePoint(codePoint))
    return (status === STATUS_MAPPING.valid || status === STATUS_MAPPING.deviation) && !punctuation.has(codePoint)
  }
  return codePoint => {
    const { status, mapping = '' } = byCodePoint.get(codePoint) ?? {}
    if (status === STATUS_MAPPING.ignored) return 'I'
    if (status === STATUS_MAPPING.mapped) {
      return Array.from(mapping).every(part => part === '.' || isLeft(part.codePointAt(0) ?? 0)) ? 'X' : ''
    }
    if (codePoint === 0x2e) return 'D'
    if (!isLeft(codePoint)) return ''
    if (codePoint === 0x200c || codePoint === 0x200d) return 'J'
    if (!marks.has(codePoint)) return directionOf(codePoint) || 'N'
    const isSpacing = directionOf(codePoint) === 'L'
    if (isVirama(codePoint)) return isSpacing ? 'W' : 'V'
    return isSpacing ? 'M' : 'S'
  }
}

/** Capitals and small letters that take turns are one run, of kind `P`. */
function joinPairs(table: string): string {
  return table.replace(/(?:XL(?![0-9a-z])){2,}/g, pairs => `P${(pairs.length - 1).toString(36)}`)
}

/** @param isAsked Of other code points nobody asks, so that runs may reach over them. */
function toRuns(kindOf: (codePoint: number) => string, isAsked = (_: number) => true): string {
  const runs: { kind: string; length: number }[] = []
  for (let codePoint = 0; codePoint <= LAST_CODE_POINT; codePoint += 1) {
    const run = runs.at(-1)
    const kind = isAsked(codePoint) ? kindOf(codePoint) || NONE : (run?.kind ?? NONE)
    if (run?.kind === kind) run.length += 1
    else runs.push({ kind, length: 1 })
  }
  if (runs.at(-1)?.kind === NONE) runs.pop()
  return runs.map(({ kind, length }) => kind + (length === 1 ? '' : (length - 1).toString(36))).join('')
}

/** What the rule of `uts46.ts` does not give, or not on every runtime: `first-last:mapping of the first`. */
function listMappings(): string {
  const fold = (character: string) => character.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
  const runs: { first: number; last: number; to: number }[] = []
  for (const { codePoint, status, mapping = '' } of uts46) {
    if (status !== STATUS_MAPPING.mapped) continue
    if (fold(String.fromCodePoint(codePoint)) === mapping && !newlyMapped.has(codePoint)) continue
    expect(Array.from(mapping)).toHaveLength(1)
    const to = mapping.codePointAt(0) ?? 0
    const run = runs.at(-1)
    if (run && run.last === codePoint - 1 && to - codePoint === run.to - run.first) run.last = codePoint
    else runs.push({ first: codePoint, last: codePoint, to })
  }
  const hex = (number: number) => number.toString(16)
  return runs.map(({ first, last, to }) => `${hex(first)}${last === first ? '' : `-${hex(last)}`}:${hex(to)}`).join(' ')
}

/** A constant of TypeScript, broken into lines of at most 120 columns. */
function toConstant(name: string, comment: string, table: string): string {
  const lines = (table.match(/.{1,112}/g) ?? []).map(line => `'${line}'`)
  const text = lines.length === 1 ? ` ${lines}` : `\n  ${lines.join(' +\n  ')}`
  return `/** ${comment} */\nexport const ${name} =${text}\n`
}

async function generate(): Promise<string> {
  const kindOf = await createKindsOfCharacters()
  const isKept = (codePoint: number) => !['', 'X', 'I'].includes(kindOf(codePoint))
  const scriptOf = await createKinds(
    ['Script/Greek', 'G'],
    ['Script/Hebrew', 'H'],
    ['Script/Hiragana', 'K'],
    ['Script/Katakana', 'K'],
    ['Script/Han', 'K'],
  )
  const joiningTypeOf = await createKinds(
    ['Joining_Type/Dual_Joining', 'D'],
    ['Joining_Type/Left_Joining', 'L'],
    ['Joining_Type/Right_Joining', 'R'],
    ['Joining_Type/Transparent', 'T'],
  )
  const isJoining = (codePoint: number) => isKept(codePoint) && !'SV'.includes(kindOf(codePoint))
  const invisible = await categories('Control', 'Format', 'Surrogate', 'Private_Use', 'Separator')
  const ignorable = await readCodePoints('Binary_Property/Default_Ignorable_Code_Point')
  return [
    [
      '/**',
      ' * Made from the Unicode Character Database 17.0.0 and the mapping table of UTS #46 for it, so that no',
      ' * answer depends on the version of the runtime. `npx vitest run test/hostname/unicode-tables -u` makes this',
      ' * file; how it is read stands in `code-point-runs.ts`.',
      ' */\n',
    ].join('\n'),
    toConstant(
      'nameCharacters',
      'What a name may hold, by kinds that `characters.ts` names.',
      joinPairs(toRuns(kindOf)),
    ),
    toConstant(
      'ownMappings',
      'What UTS #46 maps otherwise than `uts46.ts`, or only since Unicode 16: `first-last:mapping of the first`.',
      listMappings(),
    ),
    toConstant(
      'joiningTypes',
      'Joining_Type D, L, R and T; marks that take no space are T and left out.',
      toRuns(joiningTypeOf, isJoining),
    ),
    toConstant('scripts', 'Script=Greek (G), Hebrew (H), and Hiragana, Katakana or Han (K).', toRuns(scriptOf, isKept)),
    toConstant(
      'invisible',
      'What does not show as itself: the general categories Cc, Cf, Cs, Co and Z, and Default_Ignorable_Code_Point.',
      toRuns(codePoint => (invisible.has(codePoint) || ignorable.has(codePoint) ? 'Y' : '')),
    ),
  ].join('\n')
}

test('the tables are those of Unicode 17.0.0', async () => {
  await expect(await generate()).toMatchFileSnapshot('../../src/hostname/unicode-tables.ts')
}, 60_000)

test('the tables have the version of the tables of tr46', () => {
  expect(UNICODE).toBe(`@unicode/unicode-${unicodeVersion}`)
})

test('a table of runs is read as it says, and a kind is that of its run and of nothing beside it', () => {
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
