import punycode from 'punycode/punycode.js'
import { toUnicode } from 'tr46'
import { isCommonName } from './common-letters.ts'
import { findDisallowedPunctuation } from './idna-2008.ts'
import { isLdhName, MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './ldh-name.ts'

/**
 * Maps a name to its A-labels by UTS #46 (Unicode IDNA Compatibility Processing, section 4.2), non-transitional, with
 * the tables of the installed `tr46`, so that the answer does not depend on the runtime's version of Unicode. A-labels
 * in the input are decoded and held to the same rules. CheckHyphens is off, for `r3---sn.example.com` is a real host;
 * what RFC 5891, section 4.2.3.1, says of hyphens at either end of a U-label is held, and what IDNA2008 says of
 * punctuation.
 *
 * @returns `null` for a name that is not allowed.
 */
export function toALabels(name: string): string | null {
  const unicode = decodeALabels(name)
  return unicode !== null && isCommonName(unicode) ? encodeULabels(unicode) : mapByTables(name)
}

/** The long way, for every name. */
export function mapByTables(name: string): string | null {
  if (refusedAscii.test(name)) return null
  const unicode = toULabels(name)
  if (unicode === null || unicode.split('.').some(label => findDisallowedPunctuation(label) !== undefined)) return null
  return encodeULabels(unicode)
}

/** Maps by UTS #46 alone, without encoding what comes out. */
export function toULabels(name: string): string | null {
  if (forbiddenAscii.test(name) || isTooLong(name.normalize('NFKC'))) return null
  const { domain, error } = toUnicode(name, options)
  return error ? null : domain
}

/** What UseSTD3ASCIIRules refuses wherever it stands: asked first, since the tables take long for many labels. */
const refusedAscii = /[\0-,/:-@[-`{-\x7f]/

const options = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
} as const

/** What UTS #46 drops. */
const ignored = /[\u00ad\u115f\u1160\u200b\u2060-\u206f\u3164\ufeff\uffa0]/g
const ignoredMarks = /\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu

/** What STD3 forbids whatever else is in a name: capitals are mapped, and `<`, `=` and `>` compose with U+0338. */
const forbiddenAscii = /[\0-,/:;?@[-`{-\x7f]/

/** A dot in every spelling of UTS #46. */
export const dots = /[.\u3002\uff0e\uff61]/

/**
 * Twice what `classifyHostname` reads: what mapping drops does not expand, and what is left has far fewer characters.
 */
const MAX_EXPANDED_LENGTH = 1024

/**
 * Whether a name has more characters than an A-label or a name may have octets. Each character takes an octet at least.
 * Asked before mapping, which makes up to 18 characters of one, as compatibility normalization does; what mapping drops
 * is not counted.
 */
function isTooLong(name: string): boolean {
  if (name.length <= MAX_LABEL_LENGTH) return false
  if (name.length > MAX_EXPANDED_LENGTH) return true
  const count = (text: string) => Array.from(text.replace(ignored, '').replace(ignoredMarks, '')).length
  return count(name) > MAX_NAME_LENGTH || name.split(dots).some(label => count(label) > MAX_LABEL_LENGTH)
}

function encodeULabels(name: string): string | null {
  if (isTooLong(name)) return null
  const labels: string[] = []
  for (const label of name.split('.')) {
    if (label.startsWith('-') || label.endsWith('-')) return null
    labels.push(isAscii(label) ? label : `xn--${punycode.encode(label)}`)
  }
  const mapped = labels.join('.')
  return isLdhName(mapped) ? mapped : null
}

/** How many different characters are looked at for one to blame. */
const MAX_SUSPECTS = 16

/**
 * Finds the character, as it was sent, for which a name is not allowed; `undefined` where none is to blame by itself.
 */
export function findRefusedCharacter(name: string): string | undefined {
  const punctuation = name.split('.').map(findDisallowedPunctuation).find(Boolean)
  if (punctuation !== undefined) return punctuation
  const suspects = [...new Set(name)].filter(character => !isAscii(character) && !isCommonName(character))
  return suspects.slice(0, MAX_SUSPECTS).find(character => {
    const { domain, error } = toUnicode(`a${character}a`, { useSTD3ASCIIRules: true })
    return error || findDisallowedPunctuation(domain) !== undefined
  })
}

export const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/**
 * @returns `null` where a label that begins with `xn--` does not decode, or not to a U-label (RFC 5890, section
 *   2.3.2.1).
 */
export function decodeALabels(name: string): string | null {
  if (!name.includes('xn--')) return name
  const labels: string[] = []
  for (const label of name.split('.')) {
    const decoded = label.startsWith('xn--') ? decode(label.slice(4)) : label
    if (decoded === null || (decoded !== label && isAscii(decoded))) return null
    labels.push(decoded)
  }
  return labels.join('.')
}

function decode(text: string): string | null {
  try {
    return punycode.decode(text)
  } catch {
    return null
  }
}
