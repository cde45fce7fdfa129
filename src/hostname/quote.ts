import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { invisible } from './idna/tables.ts'

const MAX_QUOTED = 60

/** The part of an input that is examined for a password. */
const MAX_EXAMINED = 512

/** Returns the first characters of a string, without half of a surrogate pair at the end. */
function cutAt(text: string, length: number): string {
  if (text.length <= length) return text
  return text.slice(0, /[\ud800-\udbff]/.test(text[length - 1] ?? '') ? length - 1 : length)
}

const invisibleKindOf = createKindOf(invisible)

/**
 * Returns whether a character is invisible, or could be mistaken for another one when printed: control and format
 * characters (bidi marks, zero-width characters), lone surrogates, and all spaces.
 */
const isInvisible = (character: string) => invisibleKindOf(character.codePointAt(0) as number) !== NONE

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
export function hidePassword(whole: string): string {
  // An "@" after the part that is examined may end a password that begins in it.
  const text = cutAt(whole, MAX_EXAMINED) + (whole.includes('@', MAX_EXAMINED) ? '@' : '')
  const at = text.lastIndexOf('@')
  if (at === -1) return text
  const [before = ''] = /^(?:(?:[^:@\\/]*:)*[\\/]{2,})?/.exec(text) ?? []
  const [userName = ''] = /^(?!mailto:)[^:@\\/?#[]*:/i.exec(text.slice(before.length)) ?? []
  const start = before.length + userName.length
  // A field's name and an e-mail address: `Email: joe@shop.com`, `{"email":"joe@shop.com"}`. A password does not follow
  // a space, or a name in quotation marks.
  const isNamed = userName.endsWith('":') || /^\s/.test(text.slice(start))
  const isField = before === '' && isNamed && !secretField.test(userName)
  if (isField) return text
  // `full:a.com:@cn` and `full:a.com @cn`, rules for a proxy, have no password.
  if (before === '' && /[:\s]@!?[\w-]+$/.test(text)) return text
  return userName !== '' && at > start ? `${text.slice(0, start)}***${text.slice(at)}` : text
}

const secretField = /pass|pwd|secret|token|key|auth|cred|log-?in|user/i

/**
 * Quotes a caller's input for a message. Hides any password, and shortens the input to {@link MAX_QUOTED} characters. A
 * character that could hide text, reorder it or break a line is written as its code point. An ASCII space stays a
 * space.
 */
export function quote(text: string): string {
  const shown = hidePassword(text)
  const cut = shown.length > MAX_QUOTED ? `${cutAt(shown, MAX_QUOTED - 1)}…` : shown
  const printable = cut.replace(/[^ -~…]/gu, character =>
    isEscaped(character) ? `\\u{${character.codePointAt(0)?.toString(16)}}` : character,
  )
  return `"${printable}"`
}

/** Returns a character with its code point, which distinguishes it from characters that look alike. */
export function nameCharacter(character: string): string {
  const codePoint = character.codePointAt(0) as number
  const point = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  return `${quote(character)} (${point}${isInvisible(character) ? ', invisible' : ''})`
}
