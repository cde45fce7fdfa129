const HYPHEN = 0x2d
const DOT = 0x2e
const LOWER_X = 0x78

const isLetter = (code: number) => code >= 0x61 && code <= 0x7a
const isDigit = (code: number) => code >= 0x30 && code <= 0x39

/**
 * The fast path: whether a text is a hostname in canonical form already, told in one pass. Lower-case letters, digits and
 * inner hyphens in labels of 1 to 63, 253 octets at most (RFC 1035, section 2.3.4; RFC 1123, section 2.1), no label that
 * looks like an A-label, and a last label that begins with a letter and so is no number.
 *
 * `true` is a proof. `false` says only that the text takes the long way.
 */
export function isPlainName(text: string): boolean {
  const { length } = text
  if (length === 0 || length > 253) return false
  let labelStart = 0
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index)
    if (isLetter(code) || isDigit(code)) continue
    if (code === HYPHEN) {
      if (index === labelStart) return false
    } else if (code === DOT) {
      if (!isPlainLabel(text, labelStart, index)) return false
      labelStart = index + 1
    } else return false
  }
  return isPlainLabel(text, labelStart, length) && isLetter(text.charCodeAt(labelStart))
}

/** The characters are known to be good, and the first to be no hyphen. */
function isPlainLabel(text: string, start: number, end: number): boolean {
  const length = end - start
  if (length === 0 || length > 63 || text.charCodeAt(end - 1) === HYPHEN) return false
  return text.charCodeAt(start) !== LOWER_X || !text.startsWith('xn--', start)
}
