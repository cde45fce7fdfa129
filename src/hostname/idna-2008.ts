import { createCodePointSet } from './code-point-ranges.ts'
import { disallowedPunctuation, greek, hebrew, kanaAndHan } from './unicode-tables.ts'

/**
 * Punctuation that has a place in a label, on the conditions of RFC 5892, appendix A.3 to A.7. The Tibetan tsheg U+0F0B
 * has none: it stands between the syllables of every name (section 2.6).
 */
const contextRules: ReadonlyMap<string, (label: readonly string[], index: number) => boolean> = new Map([
  ['\u00b7', (label, index) => label[index - 1] === 'l' && label[index + 1] === 'l'],
  ['\u0375', (label, index) => isIn(isGreek, label[index + 1])],
  ['\u05f3', (label, index) => isIn(isHebrew, label[index - 1])],
  ['\u05f4', (label, index) => isIn(isHebrew, label[index - 1])],
  ['\u30fb', label => label.some(character => isIn(isKanaOrHan, character))],
])

const isGreek = createCodePointSet(greek)
const isHebrew = createCodePointSet(hebrew)
const isKanaOrHan = createCodePointSet(kanaAndHan)
const isDisallowed = createCodePointSet(disallowedPunctuation)

const isIn = (set: (codePoint: number) => boolean, character: string | undefined) =>
  character !== undefined && set(character.codePointAt(0) as number)

/**
 * Finds what IDNA2008 says of punctuation where UTS #46 says nothing (RFC 5891, section 5.4; RFC 5892, section 2.8):
 * characters of the general categories P, Sm, Sc and Sk are no part of a hostname, but for the ones with a condition
 * that holds. Emoji stay, and their skin tones with them: they are registered and in use.
 *
 * @param label A U-label, mapped by UTS #46.
 * @returns The first character that is not allowed, or `undefined`.
 */
export function findDisallowedPunctuation(label: string): string | undefined {
  const characters = Array.from(label)
  return characters.find((character, index) => {
    const rule = contextRules.get(character)
    return rule ? !rule(characters, index) : isIn(isDisallowed, character)
  })
}
