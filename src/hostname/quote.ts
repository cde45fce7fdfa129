import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { invisible } from './idna/tables.ts'

const MAX_QUOTED = 60

const invisibleKindOf = createKindOf(invisible)

/**
 * Returns whether a character is invisible, or could be mistaken for another one when printed: control and format
 * characters (bidi marks, zero-width characters), lone surrogates, and all spaces.
 */
export const isInvisible = (character: string) => invisibleKindOf(character.codePointAt(0) as number) !== NONE

const isEscaped = (character: string) => character !== ' ' && isInvisible(character)

/**
 * Returns whether a string can be printed unchanged: {@link isInvisible} is false for all its characters, except for
 * ASCII spaces.
 */
export const isPrintable = (text: string) => !Array.from(text).some(isEscaped)

/**
 * Hides the password of a URL. A pasted password may contain any character, so it may extend from the
 * first colon after the scheme to the last "@".
 */
export function hidePassword(text: string): string {
  const at = text.lastIndexOf('@')
  if (at === -1) return text
  const [before = ''] = /^(?:(?:[^:@\\/]*:)*[\\/]{2,})?/.exec(text) ?? []
  const [userName = ''] = /^(?!mailto:)[^:@\\/?#[]*:/i.exec(text.slice(before.length)) ?? []
  const start = before.length + userName.length
  return userName !== '' && at > start ? `${text.slice(0, start)}***${text.slice(at)}` : text
}

/**
 * Quotes a caller's input for a message. Hides any password, and shortens the input to {@link MAX_QUOTED} characters. A
 * character that could hide text, reorder it or break a line is written as its code point. An ASCII space stays a
 * space.
 */
export function quote(text: string): string {
  const shown = hidePassword(text)
  const cut = shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED - 1)}…` : shown
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
