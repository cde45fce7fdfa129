import { kindOf, kinds } from './characters.ts'
import { createKindOf, NONE } from './code-point-runs.ts'
import { joiningTypes, scripts } from './tables.ts'

type ContextRule = (label: readonly string[], index: number) => boolean

/** The rules of RFC 5892, appendices A.1 and A.2, which UTS #46 also contains (CheckJoiners). */
const joinerRules: ReadonlyMap<string, ContextRule> = new Map<string, ContextRule>([
  ['\u200c', (label, index) => isAfterVirama(label, index) || joins(label, index)],
  ['\u200d', isAfterVirama],
])

/** The rules of RFC 5892, appendices A.3 to A.6, which UTS #46 does not contain. */
const punctuationRules: ReadonlyMap<string, ContextRule> = new Map<string, ContextRule>([
  ['\u00b7', (label, index) => label[index - 1] === 'l' && label[index + 1] === 'l'],
  ['\u0375', (label, index) => isOfScript('G', label[index + 1])],
  ['\u05f3', (label, index) => isOfScript('H', label[index - 1])],
  ['\u05f4', (label, index) => isOfScript('H', label[index - 1])],
])

/** Finds the first joiner in a place where these rules do not allow it. */
export const findMisplacedJoiner = (label: string) => findMisplaced(label, joinerRules)

/**
 * Finds the first punctuation character that lacks the neighbors that IDNA2008 requires for it. The Katakana middle dot
 * (appendix A.7) requires no particular neighbor, only a Japanese character somewhere in the label.
 */
export function findMisplacedPunctuation(label: string): string | undefined {
  if (/[\u00b7\u0375\u05f3\u05f4]/.test(label)) {
    const found = findMisplaced(label, punctuationRules)
    if (found !== undefined) return found
  }
  if (!label.includes('\u30fb')) return undefined
  return Array.from(label).some(character => isOfScript('K', character)) ? undefined : '\u30fb'
}

function findMisplaced(label: string, rules: ReadonlyMap<string, ContextRule>): string | undefined {
  const characters = Array.from(label)
  return characters.find((character, index) => rules.get(character)?.(characters, index) === false)
}

const scriptOf = createKindOf(scripts)
const joiningTypeOf = createKindOf(joiningTypes)

const isOfScript = (script: string, character: string | undefined) =>
  character !== undefined && scriptOf(character.codePointAt(0) as number) === script

const kindOfCharacter = (character: string | undefined) => (character ? kindOf(character.codePointAt(0) as number) : 0)

function isAfterVirama(label: readonly string[], index: number): boolean {
  return (kindOfCharacter(label[index - 1]) & (kinds.VIRAMA | kinds.THIN_VIRAMA)) !== 0
}

/** Returns whether the letters on both sides join across this character. Nonspacing marks are skipped. */
function joins(label: readonly string[], index: number): boolean {
  let before = index - 1
  while (joiningTypeOfCharacter(label[before]) === 'T') before -= 1
  let after = index + 1
  while (joiningTypeOfCharacter(label[after]) === 'T') after += 1
  return /[LD]/.test(joiningTypeOfCharacter(label[before])) && /[RD]/.test(joiningTypeOfCharacter(label[after]))
}

function joiningTypeOfCharacter(character: string | undefined): string {
  if (character === undefined) return NONE
  const isThin = (kindOfCharacter(character) & (kinds.THIN_MARK | kinds.THIN_VIRAMA)) !== 0
  return isThin ? 'T' : joiningTypeOf(character.codePointAt(0) as number)
}
