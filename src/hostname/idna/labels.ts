import punycode from 'punycode/punycode.js'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../ldh-name.ts'
import { kindOf, kinds, survey } from './characters.ts'
import { findMisplacedJoiner, findMisplacedPunctuation } from './context.ts'
import { mapCharacter } from './mapping.ts'

/** A dot, in any spelling that UTS #46 allows. */
export const dots = /[.\u3002\uff0e\uff61]/

export const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/** Why a name is not a valid hostname. */
export interface LabelFault {
  readonly reason:
    | 'empty'
    | 'disallowed character'
    | 'punctuation'
    | 'misplaced joiner'
    | 'outer hyphen'
    | 'mark first'
    | 'bidi'
    | 'not an A-label'
    | 'long label'
    | 'long name'
  /** The invalid label as it was sent. */
  readonly label: string
  /** The invalid character as it was sent; in an A-label, the character that the label encodes. */
  readonly character?: string | undefined
}

interface LabelOptions {
  /** Accepts in U-labels what is accepted in A-labels: all punctuation, and joiners in any place, as between emoji. */
  readonly acceptsMore?: boolean
}

/**
 * Returns the A-labels of a name.
 *
 * A name that is wholly ASCII is taken as it is, in lower case, whatever its A-labels decode to (URL Standard, "domain
 * to ASCII", since June 2026). Such names are in use, and ASCII has only one spelling.
 *
 * Any other name is mapped by UTS #46 (Unicode IDNA Compatibility Processing, section 4). UseSTD3ASCIIRules, CheckBidi,
 * CheckJoiners and VerifyDnsLength are on. Transitional processing is off. CheckHyphens is off, because many names such
 * as `r3---sn.example.com` are in use. But no label may begin or end with a hyphen (RFC 5891, section 4.2.3.1).
 *
 * One rule of IDNA2008 is added: a label may not contain punctuation (RFC 5891, section 5.4; RFC 5892, section 2.8),
 * except where `context.ts` allows it. The rule applies only to labels that are sent in Unicode. A-labels may contain
 * punctuation: such names are in use, and no word processor writes an A-label by mistake.
 *
 * @returns The canonical name, or the first fault.
 */
export function toALabels(name: string, { acceptsMore = false }: LabelOptions = {}): string | LabelFault {
  if (isAscii(name)) return findAsciiFault(name) ?? name.toLowerCase()
  // Maps all labels before it normalizes any of them: normalizing may take a long time, and is not needed if mapping
  // finds a fault.
  const mapped: string[] = []
  const sent = name.split(dots)
  for (const label of sent) {
    const text = mapLabel(label)
    if (typeof text !== 'string') return text
    mapped.push(text)
  }
  const labels: Label[] = []
  let length = -1
  for (const [index, text] of mapped.entries()) {
    const label = readLabel(sent[index] as string, text, acceptsMore)
    if ('reason' in label) return label
    labels.push(label)
    length += 1 + label.ascii.length
    if (length > MAX_NAME_LENGTH) return { reason: 'long name', label: name }
  }
  return findBidiFault(labels) ?? labels.map(label => label.ascii).join('.')
}

/** Checks a name that is wholly ASCII by RFC 1123, section 2.1. */
function findAsciiFault(name: string): LabelFault | undefined {
  if (name.length > MAX_NAME_LENGTH) return { reason: 'long name', label: name }
  const labels = name.split('.')
  const [character] = /[^a-z0-9.-]/i.exec(name) ?? []
  if (character !== undefined) {
    const label = labels.find(each => each.includes(character)) ?? name
    return { reason: 'disallowed character', label, character }
  }
  for (const label of labels) {
    if (label === '') return { reason: 'empty', label }
    if (label.startsWith('-') || label.endsWith('-')) return { reason: 'outer hyphen', label }
    if (label.length > MAX_LABEL_LENGTH) return { reason: 'long label', label }
  }
  return undefined
}

/**
 * Returns the A-labels under which another version of Unicode may have allowed a name: characters that today's tables
 * disallow stay as they are, and no rule applies to the order of characters.
 *
 * @returns `null` for a name that no version of Unicode has ever allowed.
 */
export function toFormerALabels(name: string): string | null {
  const labels: string[] = []
  for (const sent of name.split(dots)) {
    const mapped = Array.from(sent, character => mapCharacter(character) ?? character).join('')
    if (mapped.length > MAX_MAPPED_LENGTH) return null
    const unicode = mapped.normalize('NFC')
    labels.push(isAscii(unicode) ? unicode.toLowerCase() : encode(unicode))
  }
  const ascii = labels.join('.')
  return findAsciiFault(ascii) === undefined ? ascii : null
}

/** A label that is allowed. */
interface Label {
  readonly sent: string
  readonly unicode: string
  readonly ascii: string
  /** The kinds of the label's characters. */
  readonly found: number
}

const { DISALLOWED, MAPPED, IGNORED, PUNCTUATION, LETTER, DIGIT, ARABIC_DIGIT } = kinds
const THIN_MARKS = kinds.THIN_MARK | kinds.THIN_VIRAMA
const MARKS = kinds.MARK | kinds.VIRAMA | THIN_MARKS
const LEFT_TO_RIGHT = LETTER | kinds.MARK | kinds.VIRAMA
const RIGHT_TO_LEFT = kinds.RIGHT_TO_LEFT | ARABIC_DIGIT

/**
 * The longest canonical decomposition has four characters (UAX #15), so after NFC, a string still has at least a
 * quarter of its length.
 */
const MAX_MAPPED_LENGTH = 4 * MAX_LABEL_LENGTH

/** Maps a label (UTS #46, section 4, step 1). */
function mapLabel(sent: string): string | LabelFault {
  let mapped = ''
  for (const character of sent) {
    const mapping = mapCharacter(character)
    if (mapping === null) return { reason: 'disallowed character', label: sent, character }
    mapped += mapping
  }
  return isLonger(mapped, MAX_MAPPED_LENGTH) ? { reason: 'long label', label: sent } : mapped
}

/** Counts characters, not code units. */
const isLonger = (text: string, length: number) => text.length > length && Array.from(text).length > length

function readLabel(sent: string, mapped: string, acceptsMore: boolean): Label | LabelFault {
  const isALabel = mapped.startsWith('xn--')
  if (isALabel && mapped.length > MAX_LABEL_LENGTH) return { reason: 'long label', label: sent }
  const unicode = isALabel ? decodeALabel(mapped) : mapped.normalize('NFC')
  if (unicode === null) return { reason: 'not an A-label', label: sent }
  if (isLonger(unicode, MAX_LABEL_LENGTH)) return { reason: 'long label', label: sent }
  const found = survey(unicode)
  const fault = findFault(sent, unicode, found)
  if (fault !== undefined && !(acceptsMore && fault.reason === 'misplaced joiner')) return fault
  const punctuation = isALabel || acceptsMore ? undefined : findPunctuation(unicode, found)
  if (punctuation !== undefined) return { reason: 'punctuation', label: sent, character: findSent(sent, punctuation) }
  const ascii = isALabel ? mapped : isAscii(unicode) ? unicode : encode(unicode)
  return ascii.length > MAX_LABEL_LENGTH ? { reason: 'long label', label: sent } : { sent, unicode, ascii, found }
}

/**
 * @returns `null` if the label cannot be decoded, is only ASCII when decoded, or would be encoded differently (RFC
 *   5890, section 2.3.2.1).
 */
export function decodeALabel(aLabel: string): string | null {
  try {
    const unicode = punycode.decode(aLabel.slice(4))
    const isEncodedSo = !isAscii(unicode) && unicode.normalize('NFC') === unicode && encode(unicode) === aLabel
    return isEncodedSo && !unicode.startsWith('xn--') ? unicode : null
  } catch {
    return null
  }
}

const encode = (unicode: string) => `xn--${punycode.encode(unicode)}`

/** Checks a label by UTS #46, section 4.1, after it has been normalized and decoded. */
function findFault(label: string, unicode: string, found: number): LabelFault | undefined {
  if (unicode === '') return { reason: 'empty', label }
  if (unicode.startsWith('-') || unicode.endsWith('-')) return { reason: 'outer hyphen', label }
  if ((found & (DISALLOWED | MAPPED | IGNORED)) !== 0) {
    const character = Array.from(unicode).find(part => mapCharacter(part) !== part)
    return { reason: 'disallowed character', label, character }
  }
  if ((kindOf(unicode.codePointAt(0) as number) & MARKS) !== 0) return { reason: 'mark first', label }
  const joiner = (found & kinds.JOINER) === 0 ? undefined : findMisplacedJoiner(unicode)
  return joiner === undefined ? undefined : { reason: 'misplaced joiner', label, character: joiner }
}

function findPunctuation(unicode: string, found: number): string | undefined {
  return (found & PUNCTUATION) === 0
    ? findMisplacedPunctuation(unicode)
    : Array.from(unicode).find(character => (survey(character) & PUNCTUATION) !== 0)
}

/** Finds the character of the input that was mapped to a given character. */
const findSent = (sent: string, mapped: string) =>
  Array.from(sent).find(character => mapCharacter(character)?.includes(mapped)) ?? mapped

/** The Bidi rule applies to all labels of a name if any of them has a character that is written from right to left. */
function findBidiFault(labels: readonly Label[]): LabelFault | undefined {
  if (!labels.some(({ found }) => (found & RIGHT_TO_LEFT) !== 0)) return undefined
  const label = labels.find(({ unicode }) => !keepsBidiRule(unicode))
  return label && { reason: 'bidi', label: label.sent }
}

/** Returns whether a label satisfies the Bidi rule (RFC 5893, section 2). Nonspacing marks at its end are ignored. */
function keepsBidiRule(label: string): boolean {
  let first = 0
  let last = 0
  let found = 0
  for (const character of label) {
    const kind = kindOf(character.codePointAt(0) as number)
    first ||= kind
    if ((kind & THIN_MARKS) === 0) last = kind
    found |= kind
  }
  if ((first & kinds.RIGHT_TO_LEFT) !== 0) {
    const hasBothDigits = (found & DIGIT) !== 0 && (found & ARABIC_DIGIT) !== 0
    return (found & LEFT_TO_RIGHT) === 0 && (last & (RIGHT_TO_LEFT | DIGIT)) !== 0 && !hasBothDigits
  }
  return (first & LETTER) !== 0 && (found & RIGHT_TO_LEFT) === 0 && (last & (LEFT_TO_RIGHT | DIGIT)) !== 0
}
