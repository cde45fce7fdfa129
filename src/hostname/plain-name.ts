const HYPHEN = 0x2d
const DOT = 0x2e

/** RFC 1035, section 2.3.4. */
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** Where the last two labels of a name begin; both 0 in a single label. */
export interface LabelStarts {
  readonly topLevel: number
  readonly secondLevel: number
}

/**
 * The fast path: tells in one pass whether a text is a hostname in canonical form already. Lower-case letters, digits and
 * inner hyphens in labels of 1 to 63, 253 octets at most (RFC 1035, section 2.3.4; RFC 1123, section 2.1), no label that
 * looks like an A-label, and a last label that begins with a letter and so is no number.
 *
 * @returns `null` says only that the text takes the long way.
 */
export function scanPlainName(text: string): LabelStarts | null {
  const { length } = text
  if (length > MAX_NAME_LENGTH) return null
  let secondLevel = 0
  let labelStart = 0
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index)
    if ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)) continue
    if (code === DOT) {
      if (!isPlainLabel(text, labelStart, index)) return null
      secondLevel = labelStart
      labelStart = index + 1
    } else if (code !== HYPHEN || index === labelStart || isALabelPrefix(text, labelStart, index)) return null
  }
  if (!isPlainLabel(text, labelStart, length) || text.charCodeAt(labelStart) < 0x61) return null
  return { topLevel: labelStart, secondLevel }
}

/** The characters are known to be good, and the first to be no hyphen. */
function isPlainLabel(text: string, start: number, end: number): boolean {
  return end > start && end - start <= MAX_LABEL_LENGTH && text.charCodeAt(end - 1) !== HYPHEN
}

/** Whether the hyphen at `index` is the second of `xn--` (RFC 5890, section 2.3.2.1). */
function isALabelPrefix(text: string, labelStart: number, index: number): boolean {
  return index === labelStart + 3 && text.startsWith('xn--', labelStart)
}

/** The same of a canonical name that has A-labels or a last label that begins with a digit. */
export function findLabelStarts(name: string): LabelStarts {
  const topLevel = name.lastIndexOf('.') + 1
  return { topLevel, secondLevel: topLevel === 0 ? 0 : name.lastIndexOf('.', topLevel - 2) + 1 }
}
