import { decodeALabels, encodeULabels, isAscii } from './a-labels.ts'
import { keepsBidiRule } from './bidi.ts'
import { kindOf, kinds, survey } from './characters.ts'
import { findOutOfContext } from './idna-2008.ts'
import { MAX_LABEL_LENGTH } from './ldh-name.ts'
import { ownMappings } from './unicode-tables.ts'

/**
 * Maps a name to its U-labels by UTS #46 (Unicode IDNA Compatibility Processing, section 4), non-transitional, with
 * UseSTD3ASCIIRules, CheckBidi and CheckJoiners. CheckHyphens is off, because `r3---sn.example.com` is a real host. Two
 * rules are added: no hyphen at either end of a U-label (RFC 5891, section 4.2.3.1), and those of `idna-2008.ts`.
 * A-labels are decoded and checked by the same rules.
 *
 * @returns `null` for a name that is not allowed.
 */
export function toULabels(name: string): string | null {
  const mapped = map(name)
  const unicode = mapped === null ? null : decodeALabels(mapped)
  if (unicode === null || (unicode !== mapped && unicode.normalize('NFC') !== unicode)) return null
  // A name that is too long in any case is not examined label by label.
  if (unicode.length > MAX_LABEL_LENGTH && encodeULabels(unicode) === null) return null
  return areULabels(unicode) ? unicode : null
}

const { REFUSED, MAPPED, IGNORED } = kinds
const MARKS = kinds.MARK | kinds.THIN_MARK | kinds.VIRAMA | kinds.THIN_VIRAMA
const RIGHT_TO_LEFT = kinds.RIGHT_TO_LEFT | kinds.ARABIC_DIGIT

/** A character may be mapped to eighteen. A name that is short enough never has more than this after the mapping. */
const MAX_MAPPED_LENGTH = 1024

/** Section 4, steps 1 and 2: maps characters, and composes the result (NFC). */
function map(name: string): string | null {
  if (isAscii(name)) return name.toLowerCase()
  const held = survey(name)
  if ((held & REFUSED) !== 0) return null
  const replaced = (held & (MAPPED | IGNORED)) === 0 ? name : Array.from(name, mapCharacter).join('')
  return replaced.length > MAX_MAPPED_LENGTH ? null : replaced.normalize('NFC')
}

function mapCharacter(character: string): string {
  const kind = kindOf(character.codePointAt(0) as number)
  if (kind !== MAPPED) return kind === IGNORED ? '' : character
  mappings ??= readOwnMappings()
  const known = mappings.get(character)
  if (known !== undefined) return known
  const mapping = character.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
  mappings.set(character, mapping)
  return mapping
}

/**
 * The mappings found so far, so that a long name of mapped characters takes no longer than others. The tables bound its
 * size.
 */
let mappings: Map<string, string> | undefined

function readOwnMappings(): Map<string, string> {
  const own = new Map<string, string>()
  for (const run of ownMappings.split(' ')) {
    const [from = '', to = ''] = run.split(':')
    const [first = 0, last = first] = from.split('-').map(digits => Number.parseInt(digits, 16))
    for (let codePoint = first; codePoint <= last; codePoint += 1) {
      own.set(String.fromCodePoint(codePoint), String.fromCodePoint(Number.parseInt(to, 16) + codePoint - first))
    }
  }
  return own
}

/** An empty label, a hyphen at either end of one, or the prefix of an A-label. */
const misplaced = /(?:^|\.)(?:[.-]|$|xn--)|-(?:\.|$)/

/** Section 4.1, for a composed and decoded name. */
function areULabels(name: string): boolean {
  const held = survey(name)
  if ((held & (REFUSED | MAPPED | IGNORED)) !== 0 || misplaced.test(name)) return false
  if ((held & MARKS) !== 0 && name.split('.').some(beginsWithMark)) return false
  if (findOutOfContext(name) !== undefined) return false
  return (held & RIGHT_TO_LEFT) === 0 || name.split('.').every(keepsBidiRule)
}

const beginsWithMark = (label: string) => (kindOf(label.codePointAt(0) as number) & MARKS) !== 0
