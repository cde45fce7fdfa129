import { createKindOf, NONE } from './code-point-runs.ts'
import { invisible } from './unicode-tables.ts'

const MAX_QUOTED = 60

const invisibleKindOf = createKindOf(invisible)

/**
 * Tells whether a character does not show as itself: controls, format characters (bidi marks, zero widths), lone
 * surrogates, unusual spaces.
 */
export const isInvisible = (character: string) => invisibleKindOf(character.codePointAt(0) as number) !== NONE

const isEscaped = (character: string) => character !== ' ' && isInvisible(character)

/** Tells whether every character of a text shows as itself, and none may hide, reorder or break a line. */
export const isPrintable = (text: string) => !Array.from(text).some(isEscaped)

/**
 * Quotes a caller's text for a message, shortened to {@link MAX_QUOTED} characters. Every character that could hide,
 * reorder or break a line is written as its code point. An ASCII space stays a space.
 */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED - 1)}…` : text
  if (printableAscii.test(cut)) return `"${cut}"`
  const printable = Array.from(cut, character =>
    isEscaped(character) ? `\\u{${character.codePointAt(0)?.toString(16)}}` : character,
  )
  return `"${printable.join('')}"`
}

/** Returns a character with its code point, which distinguishes it from characters that look alike. */
export function nameCharacter(character: string): string {
  const codePoint = character.codePointAt(0) as number
  const point = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  return `${quote(character)} (${point}${isInvisible(character) ? ', invisible' : ''})`
}

const printableAscii = /^[ -~]*$/
