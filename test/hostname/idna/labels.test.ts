import punycode from 'punycode/punycode.js'
import { describe, expect, test } from 'vitest'
import { toALabels } from '../../../src/hostname/idna/labels.ts'
import { counts, isLong, sample, seed } from '../../counts.ts'
import { createRandom } from '../../random.ts'
import { containsPunctuation, isKnownToTr46, toALabelsByTr46, toUnicode } from './by-tr46.ts'

/** `null` for a name that is not allowed. */
function read(name: string, acceptsMore = false): string | null {
  const reading = toALabels(name, { acceptsMore })
  return typeof reading === 'string' ? reading : null
}

function findDisagreements(names: Iterable<string>): unknown[] {
  const disagreements: unknown[] = []
  for (const name of names) {
    const [ours, theirs] = [read(name), toALabelsByTr46(name)]
    if (ours !== theirs) disagreements.push({ name, ours, theirs })
    if (disagreements.length === 10) break
  }
  return disagreements
}

const toCharacter = (codePoint: number) => String.fromCodePoint(codePoint)
const every = Array.from({ length: 0x110000 }, (_, codePoint) => toCharacter(codePoint))
const characters = [...every.slice(0, 0x3000), ...sample(every.slice(0x3000), counts.codePoints)].filter(isKnownToTr46)
const allowed = characters.filter(character => read(`a${character}b`, true) !== null)

describe('A-labels equal those of tr46 (except punctuation that only tr46 accepts)', () => {
  test('for labels that contain a sampled code point', () => {
    expect(allowed.length).toBeGreaterThan(isLong ? 150_000 : 12_000)
    expect(findDisagreements(characters.map(character => `a${character}b`))).toEqual([])
  })

  test('for sampled A-labels as input, all of which stay unchanged', () => {
    const aLabels = allowed.map(character => read(`a${character}b`, true) ?? '').filter(label => /^xn--/.test(label))
    expect(aLabels.length).toBeGreaterThan(isLong ? 150_000 : 10_000)
    expect(aLabels.filter(label => read(label) !== label)).toEqual([])
    // In a name with a character beyond ASCII, A-labels are decoded and checked.
    const sampled = aLabels.filter((_, index) => index % 10 === seed % 10)
    expect(findDisagreements(sampled.map(label => `${label}.ß`))).toEqual([])
    const punctuated = aLabels.map(label => toUnicode(label).domain).filter(label => containsPunctuation(label))
    expect(punctuated.length).toBeGreaterThan(1000)
    expect(findDisagreements(punctuated.map(label => `xn--${punycode.encode(label)}.ß`))).toEqual([])
  })

  /**
   * Each character is combined with letters of the opposite direction, marks, joiners, and characters that are allowed
   * only in some contexts.
   */
  test.each([
    ['alone', (character: string) => character],
    ['before a mark', (character: string) => `${character}\u0301`],
    ['in a name that also has a right-to-left label', (character: string) => `a${character}.א`],
    ['after a right-to-left letter', (character: string) => `א${character}`],
    ['before an Arabic digit', (character: string) => `ب${character}\u0663`],
    ['before a zero-width non-joiner', (character: string) => `${character}\u200cب`],
    ['after a zero-width non-joiner', (character: string) => `ب\u200c${character}`],
    ['before a zero-width joiner', (character: string) => `${character}\u200da`],
    ['next to a middle dot', (character: string) => `アl·${character}`],
    [
      'next to a Greek numeral sign, a geresh or a katakana middle dot',
      (character: string) => `${character}\u05f3.\u0375${character}.・${character}`,
    ],
  ])('for each sampled character, placed %s', (_, toName) => {
    const sampled = allowed.filter((character, index) => index % 10 === seed % 10 || character < '\u3000')
    expect(sampled.length).toBeGreaterThan(isLong ? 20_000 : 5_000)
    expect(findDisagreements(sampled.map(toName))).toEqual([])
  })

  test('for random names, of which more than a tenth are valid', () => {
    const random = createRandom(seed)
    const odd = [
      ...'.。-a1zlאبةم٣۳\u064b\u0651\u094d\u200c\u200d\u30fb\u00b7\u0375\u05f3αアA\u0301\u0345ßςıİ',
      ...['xn--', 'xn--tda', 'xn--80a1', 'xn--a-0ga', 'xn--4ca', '.xn--'],
    ]
    const common = allowed.slice(0, 3000)
    const names = Array.from({ length: counts.generatedNames }, () =>
      Array.from({ length: random.integer(1, 7) }, () =>
        random.pick(random.pick([odd, odd, odd, common, common, allowed])),
      ).join(''),
    )
    expect(findDisagreements(names)).toEqual([])
    expect(names.filter(name => read(name) !== null).length).toBeGreaterThan(counts.generatedNames / 10)
    expect(names.filter(name => read(name) === null).length).toBeGreaterThan(counts.generatedNames / 10)
  })
})

test('a misplaced joiner is rejected even after a valid joiner in the same label', () => {
  // If a label has two joiners, tr46 mistakes the second one for the first one.
  expect(toALabels('क्\u200cب\u200cब')).toMatchObject({ reason: 'misplaced joiner' })
})
