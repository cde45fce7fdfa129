import { createKindOf, parseRuns } from './code-point-runs.ts'
import { nameCharacters } from './tables.ts'

/**
 * The kinds of characters that UTS #46, the Bidi rule (RFC 5893) and IDNA2008 distinguish. Each kind is a bit, so one
 * number can represent the kinds of all characters in a label. A punctuation character has two kinds: `PUNCTUATION`,
 * and the kind that it would otherwise have.
 */
export const kinds = {
  /** Disallowed by UTS #46 with UseSTD3ASCIIRules, or unassigned. */
  DISALLOWED: 1 << 0,
  /** Written from left to right. */
  LETTER: 1 << 1,
  /** European digits, including `0` to `9`. */
  DIGIT: 1 << 2,
  /** Characters without a direction, such as the hyphen and emoji. */
  NEUTRAL: 1 << 3,
  /** Hebrew, Arabic and other scripts that are written from right to left. */
  RIGHT_TO_LEFT: 1 << 4,
  ARABIC_DIGIT: 1 << 5,
  /** Spacing marks. */
  MARK: 1 << 6,
  /** Nonspacing marks. */
  THIN_MARK: 1 << 7,
  /** Marks that a joiner may follow. */
  VIRAMA: 1 << 8,
  THIN_VIRAMA: 1 << 9,
  JOINER: 1 << 10,
  /** Characters that are mapped to other characters. */
  MAPPED: 1 << 11,
  IGNORED: 1 << 12,
  /** Allowed by UTS #46 and disallowed by IDNA2008: the general categories P, Sm, Sc and Sk, except emoji. */
  PUNCTUATION: 1 << 13,
} as const

const { DISALLOWED, LETTER, MAPPED, PUNCTUATION } = kinds

/**
 * The letters that stand for the kinds in the table. `P` stands for a run in which capital and small letters alternate.
 */
const letters: Readonly<Record<string, number>> = {
  L: LETTER,
  E: kinds.DIGIT,
  N: kinds.NEUTRAL,
  R: kinds.RIGHT_TO_LEFT,
  A: kinds.ARABIC_DIGIT,
  M: kinds.MARK,
  S: kinds.THIN_MARK,
  W: kinds.VIRAMA,
  V: kinds.THIN_VIRAMA,
  J: kinds.JOINER,
  X: MAPPED,
  I: kinds.IGNORED,
  B: LETTER | PUNCTUATION,
  Q: kinds.NEUTRAL | PUNCTUATION,
  H: kinds.RIGHT_TO_LEFT | PUNCTUATION,
  G: kinds.ARABIC_DIGIT | PUNCTUATION,
}

/** Returns the kinds of all characters of a string. */
export function survey(text: string): number {
  let found = 0
  for (const character of text) found |= kindOf(character.codePointAt(0) as number)
  return found
}

const LETTERS = LETTER | kinds.DIGIT | kinds.RIGHT_TO_LEFT | kinds.ARABIC_DIGIT | MAPPED

/**
 * Returns whether a string is a single letter or digit according to our tables: the runtime may have another version of
 * Unicode.
 */
export function isLetterOrDigit(character: string): boolean {
  const found = survey(character)
  return (found & LETTERS) !== 0 && (found & PUNCTUATION) === 0
}

const BASIC_PLANE = 0x10000
const kindBeyond = createKindOf(nameCharacters)

/** The kinds of common characters. Created when the first name that is not ASCII is read. */
let basicPlane: Uint16Array | undefined

export function kindOf(codePoint: number): number {
  basicPlane ??= readBasicPlane()
  return basicPlane[codePoint] ?? letters[kindBeyond(codePoint)] ?? DISALLOWED
}

function readBasicPlane(): Uint16Array {
  const created = new Uint16Array(BASIC_PLANE)
  for (const { first, last, kind } of parseRuns(nameCharacters)) {
    created.fill(letters[kind] ?? DISALLOWED, first, last + 1)
    for (let codePoint = first; kind === 'P' && codePoint <= last; codePoint += 1) {
      created[codePoint] = (codePoint - first) % 2 === 0 ? MAPPED : LETTER
    }
  }
  return created
}
