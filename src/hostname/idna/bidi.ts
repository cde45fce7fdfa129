import { kindOf, kinds } from './characters.ts'

const { LETTER, DIGIT, RIGHT_TO_LEFT, ARABIC_DIGIT, MARK, THIN_MARK, VIRAMA, THIN_VIRAMA } = kinds
const LEFT_TO_RIGHT = LETTER | MARK | VIRAMA
const THIN = THIN_MARK | THIN_VIRAMA

/**
 * Returns whether a label satisfies the Bidi rule (RFC 5893, section 2). Call it only for names that contain a
 * right-to-left character. Nonspacing marks at the end of the label are ignored.
 */
export function keepsBidiRule(label: string): boolean {
  let first = 0
  let last = 0
  let held = 0
  for (const character of label) {
    const kind = kindOf(character.codePointAt(0) as number)
    first ||= kind
    if ((kind & THIN) === 0) last = kind
    held |= kind
  }
  if ((first & RIGHT_TO_LEFT) !== 0) {
    const holdsBothDigits = (held & DIGIT) !== 0 && (held & ARABIC_DIGIT) !== 0
    return (held & LEFT_TO_RIGHT) === 0 && (last & (RIGHT_TO_LEFT | DIGIT | ARABIC_DIGIT)) !== 0 && !holdsBothDigits
  }
  const isMixed = (held & (RIGHT_TO_LEFT | ARABIC_DIGIT)) !== 0
  return (first & LETTER) !== 0 && !isMixed && (last & (LEFT_TO_RIGHT | DIGIT)) !== 0
}
