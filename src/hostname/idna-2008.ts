import { kindOf, kinds } from './characters.ts'
import { createKindOf, NONE } from './code-point-runs.ts'
import { joiningTypes, scripts } from './unicode-tables.ts'

/**
 * The rules of IDNA2008 that UTS #46 does not have (RFC 5891, section 5.4; RFC 5892, section 2.8). Characters of the
 * general categories P, Sm, Sc and Sk are not allowed, and the tables exclude them. These characters are allowed on the
 * conditions of RFC 5892, appendix A; for joiners, UTS #46 has the same conditions. The Tibetan tsheg U+0F0B has no
 * condition, since it separates the syllables of every name (section 2.6). Emoji and their skin tones are allowed:
 * they are registered and in use.
 */
const contextRules: ReadonlyMap<string, (label: readonly string[], index: number) => boolean> = new Map([
  ['\u00b7', (label, index) => label[index - 1] === 'l' && label[index + 1] === 'l'],
  ['\u0375', (label, index) => isOfScript('G', label[index + 1])],
  ['\u05f3', (label, index) => isOfScript('H', label[index - 1])],
  ['\u05f4', (label, index) => isOfScript('H', label[index - 1])],
  ['\u200c', (label, index) => isAfterVirama(label, index) || joins(label, index)],
  ['\u200d', isAfterVirama],
  ['\u30fb', label => label.some(character => isOfScript('K', character))],
])

const inContext = /[\u00b7\u0375\u05f3\u05f4\u30fb]|\u200c|\u200d/

/** Finds the first character of a name that its context does not allow. */
export function findOutOfContext(name: string): string | undefined {
  if (!inContext.test(name)) return undefined
  for (const label of name.split('.')) {
    const characters = Array.from(label)
    const found = characters.find((character, index) => contextRules.get(character)?.(characters, index) === false)
    if (found !== undefined) return found
  }
  return undefined
}

const scriptOf = createKindOf(scripts)
const joiningTypeOf = createKindOf(joiningTypes)

const isOfScript = (script: string, character: string | undefined) =>
  character !== undefined && scriptOf(character.codePointAt(0) as number) === script

const kindOfCharacter = (character: string | undefined) => (character ? kindOf(character.codePointAt(0) as number) : 0)

function isAfterVirama(label: readonly string[], index: number): boolean {
  return (kindOfCharacter(label[index - 1]) & (kinds.VIRAMA | kinds.THIN_VIRAMA)) !== 0
}

/** Tells whether the letters on both sides join across this character. Nonspacing marks are skipped. */
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
