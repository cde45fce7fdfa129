import { type Dots, MAX_LENGTH_WITH_DOTS } from './dots.ts'
import { mapPlainLabels } from './idna.ts'

/**
 * Tells in one pass whether a text is a hostname in canonical form already: lower-case letters, digits and inner hyphens in
 * labels of 1 to 63, 253 octets at most (RFC 1035, section 2.3.4; RFC 1123, section 2.1), and A-labels only of what takes no
 * table to judge.
 *
 * @returns `null` says only that the text takes the long way.
 */
export function scanPlainName(text: string): Dots | null {
  return text.length <= MAX_LENGTH_WITH_DOTS ? scanShortName(text) : scanLongName(text)
}

const DOT = 1
const HYPHEN = 2
/** What no code of ASCII has a bit of. */
const FORBIDDEN = 0x80

/** What the characters of ASCII are; letters and digits are 0. */
const kinds = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[a-z0-9]/.test(character)) return 0
  return character === '.' ? DOT : character === '-' ? HYPHEN : FORBIDDEN
})

/**
 * Asks of no character what it is: processors cannot foresee the answer, and that would take longer than all the rest. The
 * loop writes down where dots and hyphens are, and what may not stand side by side shows when one is moved over the other.
 */
function scanShortName(text: string): Dots | null {
  let dots = 1
  let hyphens = 0
  let all = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    const kind = kinds[code & 0x7f] as number
    dots = (dots << 1) | (kind & DOT)
    hyphens = (hyphens << 1) | (kind & HYPHEN)
    all |= kind | code
  }
  if (all >= FORBIDDEN) return null

  // Both ends; a hyphen is worth two, and so has been moved over by that place already.
  dots = (dots << 1) | 1
  const besideDots = (dots << 1) | (dots >>> 1)
  if ((besideDots & (dots | hyphens)) !== 0) return null
  if ((hyphens & (hyphens << 1)) !== 0 && aLabel.test(text) && mapPlainLabels(text) === null) return null
  return dots
}

/** The same label by label, for names that are too long for it. */
function scanLongName(text: string): Dots | null {
  const { length } = text
  if (length > MAX_NAME_LENGTH) return null
  let dots = 1
  let labelStart = 0
  let hasALabel = false
  for (let index = 0; index < length; index += 1) {
    const kind = text.charCodeAt(index) < 0x80 ? kinds[text.charCodeAt(index)] : FORBIDDEN
    dots <<= 1
    if (kind === 0) continue
    if (kind === DOT) {
      if (!isPlainLabel(text, labelStart, index)) return null
      dots |= 1
      labelStart = index + 1
    } else if (kind !== HYPHEN || index === labelStart) return null
    else if (isALabelPrefix(text, labelStart, index)) hasALabel = true
  }
  if (!isPlainLabel(text, labelStart, length) || (hasALabel && mapPlainLabels(text) === null)) return null
  return (dots << 1) | 1
}

/** The characters are known to be good, and the first to be no hyphen. */
function isPlainLabel(text: string, start: number, end: number): boolean {
  return end > start && end - start <= MAX_LABEL_LENGTH && text[end - 1] !== '-'
}

/** Whether the hyphen at `index` is the second of `xn--` (RFC 5890, section 2.3.2.1). */
function isALabelPrefix(text: string, labelStart: number, index: number): boolean {
  return index === labelStart + 3 && text.startsWith('xn--', labelStart)
}

/** RFC 5890, section 2.3.2.1. */
const aLabel = /(?:^|\.)xn--/

/** RFC 1035, section 2.3.4. */
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63
const tooLongLabel = /[^.]{64}/

/** RFC 1123, section 2.1: letters, digits and inner hyphens, in labels of 1 to 63 and 253 octets at most. */
export function isLdhName(text: string): boolean {
  return (
    text.length <= MAX_NAME_LENGTH &&
    ldhLabels.test(text) &&
    (text.length <= MAX_LABEL_LENGTH || !tooLongLabel.test(text))
  )
}

const ldhLabels = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/
