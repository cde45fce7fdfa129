import punycode from 'punycode/punycode.js'
import { toASCII } from 'tr46'

/**
 * Maps a name to its A-labels by UTS #46 (Unicode IDNA Compatibility Processing, section 4.2), non-transitional, with
 * the tables of the installed `tr46`, so that the answer does not depend on the runtime's version of Unicode. A-labels in
 * the input are decoded and held to the same rules. CheckHyphens is off, for `r3---sn.example.com` is a real host; what
 * RFC 5891, section 4.2.3.1, says of hyphens at either end of a U-label is held.
 *
 * @returns `null` for a name that is not allowed.
 */
export function toALabels(name: string): string | null {
  if (name.split('.').some(label => label.length > MAX_SENT_LABEL_LENGTH)) return null
  return mapPlainLabels(name) ?? mapByTables(name)
}

/** RFC 1035, section 2.3.4. */
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** Normalization composes three characters to one at most; a longer label would take its square in time to encode. */
const MAX_SENT_LABEL_LENGTH = 3 * MAX_LABEL_LENGTH

/**
 * Letters that every version of UTS #46 leaves as they are, that are written from left to right, and that neither combine
 * with a neighbour nor change under normalization: European small letters, Kana, common Han, Hangul syllables, and Thai. No
 * table is needed for labels of these, which are most of those in use.
 */
const plainLetters =
  'ßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżž' +
  'ά-ώа-џぁ-ゖァ-ヺー々一-龥가-힣\u0e01-\u0e30\u0e32\u0e40-\u0e46'

/** Thai vowels and tones above and below a letter: never at the beginning, and normalization puts a tone after a vowel. */
const plainMarks = '\u0e31\u0e34-\u0e39\u0e47-\u0e4e'
const outOfOrder = '[\u0e48-\u0e4b][\u0e38\u0e39]'

const plainULabel = new RegExp(
  `^(?!-|xn--|[${plainMarks}]|.*${outOfOrder})[a-z0-9${plainLetters}${plainMarks}-]+(?<!-)$`,
)
const plainLabel = /^(?!-|xn--)[a-z0-9-]+(?<!-)$/

/** Maps a name whose labels are all plain; `null` says only that it takes the tables. */
export function mapPlainLabels(name: string): string | null {
  const labels: string[] = []
  for (const label of name.split('.')) {
    const aLabel = mapPlainLabel(label)
    if (aLabel === null || aLabel.length > MAX_LABEL_LENGTH) return null
    labels.push(aLabel)
  }
  const mapped = labels.join('.')
  return mapped.length > MAX_NAME_LENGTH ? null : mapped
}

function mapPlainLabel(label: string): string | null {
  if (plainLabel.test(label)) return label
  if (!label.startsWith('xn--')) return plainULabel.test(label) ? `xn--${punycode.encode(label)}` : null
  const uLabel = decode(label.slice(4))
  return uLabel !== null && plainULabel.test(uLabel) && !plainLabel.test(uLabel) ? label : null
}

function decode(text: string): string | null {
  try {
    return punycode.decode(text)
  } catch {
    return null
  }
}

const options = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
} as const

/** The long way, for every name. */
export function mapByTables(name: string): string | null {
  const mapped = toASCII(name, options)
  return mapped?.split('.').some(holdsOuterHyphen) ? null : mapped
}

function holdsOuterHyphen(aLabel: string): boolean {
  const label = aLabel.startsWith('xn--') ? (decode(aLabel.slice(4)) ?? '') : aLabel
  return label.startsWith('-') || label.endsWith('-')
}
