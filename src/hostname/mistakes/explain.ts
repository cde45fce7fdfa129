import { kinds, survey } from '../idna/characters.ts'
import { dots, isAscii, type LabelFault } from '../idna/labels.ts'
import { mapCharacter } from '../idna/mapping.ts'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../ldh-name.ts'
import { nameCharacter, quote } from '../quote.ts'
import { suffixList } from '../suffix-list-version.ts'
import type { Meant } from './meant.ts'
import type { Mistake } from './mistake.ts'
import { lines, type MistakeKind, rows } from './table.ts'

/**
 * Explains why an input is not a hostname.
 *
 * @param sent Trimmed, without a trailing dot.
 * @param fault The fault in the labels of the input; for a wildcard, in the labels after `*.`.
 * @param meant What the input names.
 */
export function explainInvalid(sent: string, fault: LabelFault, meant?: Meant): Mistake {
  const foreignDot = /^\*[\u3002\uff0e\uff61]/.exec(sent)?.[0].slice(1)
  if (foreignDot !== undefined) {
    const problem = `has the dot ${nameCharacter(foreignDot)} after its "*" in place of "."`
    return { reason: 'wildcard_dot', problem, details: { character: foreignDot } }
  }
  const line = lines.find(({ pattern }) => pattern.test(sent))
  if (line !== undefined) return toMistake(line, sent)
  const advice = 'Enter each as a separate entry'
  if (meant?.hasNetwork) {
    const problem = 'contains a prefix, which stands for a range of IP addresses'
    return { reason: 'address_range', problem, advice: 'Enter each address as a separate entry' }
  }
  if (meant?.isList) {
    return { reason: 'several_hostnames', problem: 'contains several hostnames', advice }
  }
  const whole = sent.split(dots).join('.')
  const text = whole.replace(/^\*\.(?=\S)/, '')
  const row = rows.find(({ pattern }) => pattern.test(text))
  return row === undefined ? explainFault(fault, whole) : toMistake(row, text)
}

function toMistake({ reason, problem, advice, source, pattern, isLine }: MistakeKind, text: string): Mistake {
  const character = problem === undefined ? findForeign(pattern.exec?.(text)?.[0] ?? '') : undefined
  const description =
    character === undefined ? { problem: problem ?? '', details: { source } } : describeCharacter(character)
  return { advice, ...description, reason, isLine }
}

const findForeign = (text: string) => /[^\0-\x7f]/u.exec(text)?.[0]

/** Explains the fault in a label, if no other mistake was found in the input. */
function explainFault(fault: LabelFault, whole: string): Mistake {
  const { reason, label, character } = fault
  const details = { label }
  switch (reason) {
    case 'empty':
      return {
        reason: 'ignored_characters',
        problem: 'has a label that consists of characters that do not count',
        details: { source: UTS46 },
      }
    case 'not an A-label':
      return explainALabel(fault)
    case 'outer hyphen':
      return {
        reason: 'outer_hyphen',
        problem: `has a label that begins or ends with a hyphen: ${quote(label)}`,
        details: { ...details, source: 'RFC 1123, section 2.1' },
      }
    case 'mark first':
      return {
        reason: 'combining_mark_first',
        problem: `has a label that begins with a combining mark: ${quote(label)}`,
        details: { ...details, source: UTS46 },
      }
    case 'bidi':
      return explainBidi(label, whole)
    case 'long label':
      return explainLongLabel(label, whole)
    case 'long name':
      return explainLongName(isAscii(label) ? whole.length : undefined)
    default:
      return /^xn--/i.test(label) ? explainALabel(fault) : describeCharacter(character ?? '')
  }
}

const UTS46 = 'UTS #46'

const { LETTER, DIGIT, ARABIC_DIGIT, RIGHT_TO_LEFT } = kinds
const DIGITS = DIGIT | ARABIC_DIGIT

/** Says which part of the Bidi rule (RFC 5893, section 2) a label breaks. */
function explainBidi(label: string, whole: string): Mistake {
  const shown = quote(label)
  const source = 'RFC 5893'
  const found = survey(mapAll(label))
  const first = survey(Array.from(mapAll(label))[0] ?? '')
  const isNumber = Array.from(whole).every(character => character === '.' || (survey(mapAll(character)) & DIGITS) !== 0)
  if (isNumber) {
    const advice = 'Enter an IP address in the digits 0 to 9'
    return { reason: 'bidi', problem: 'is written in digits other than 0 to 9', advice, details: { label, source } }
  }
  const problem = /^xn--/i.test(label)
    ? `has a label that breaks the rule for names written from right to left: ${shown}`
    : (first & DIGITS) !== 0
      ? `has a label that begins with a digit, which is not allowed in a name with right-to-left characters: ${shown}`
      : (found & RIGHT_TO_LEFT) !== 0 && (found & LETTER) !== 0
        ? `has a label with letters written from left to right and from right to left: ${shown}`
        : (found & DIGITS) === DIGITS
          ? `has a label with digits of two scripts: ${shown}`
          : `has a label that breaks the rule for names written from right to left: ${shown}`
  return { reason: 'bidi', problem, details: { label, source } }
}

const mapAll = (text: string) => Array.from(text, character => mapCharacter(character) ?? character).join('')

function explainALabel({ label, character }: LabelFault): Mistake {
  const decoded = character === undefined ? '' : `; decoded, it contains the character ${nameCharacter(character)}`
  const problem = `has a label that begins with "xn--" and is not an A-label: ${quote(label)}${decoded}`
  return { reason: 'not_an_a_label', problem, details: { label, character, source: 'RFC 5890' } }
}

/** A label at the start of the input need not be quoted, because the message already quotes the input. */
function explainLongLabel(label: string, whole: string): Mistake {
  const [has, shown] = whole.startsWith(label) ? ['begins with', ''] : ['has', `: ${quote(label)}`]
  const length = isAscii(label) ? label.length : undefined
  const problem =
    length === undefined
      ? `${has} a label that is too long in its ASCII form, over ${MAX_LABEL_LENGTH} characters${shown}`
      : `${has} a label of ${length} characters, more than ${MAX_LABEL_LENGTH}${shown}`
  return { reason: 'label_too_long', problem, details: { label, length, source: 'RFC 1035' } }
}

/** @param length The length of the name if it is ASCII. */
const explainLongName = (length: number | undefined): Mistake => ({
  reason: 'name_too_long',
  problem:
    length === undefined
      ? `is too long in its ASCII form; a hostname has at most ${MAX_NAME_LENGTH} characters`
      : `has ${length} characters; a hostname has at most ${MAX_NAME_LENGTH}`,
  details: { length, source: 'RFC 1035' },
})

/** Describes a character that is not allowed, or not in its place, and the rule that it breaks. */
function describeCharacter(character: string): Mistake {
  if (isAscii(character)) {
    const problem = `contains the character ${quote(character)}; only letters, digits, hyphens and dots are allowed`
    return { reason: 'character', problem, details: { character, source: 'RFC 1123, section 2.1' } }
  }
  const has = `contains the character ${nameCharacter(character)}, which is`
  if (/[\u00b7\u0375\u05f3\u05f4\u30fb]|\u200c|\u200d/.test(character)) {
    const problem = `${has} allowed only next to certain others`
    return { reason: 'misplaced_character', problem, details: { character, source: 'RFC 5892, appendix A' } }
  }
  // UTS #46 allows these characters, but IDNA2008 counts them as punctuation.
  if ((survey(mapCharacter(character) ?? '') & kinds.PUNCTUATION) !== 0) {
    return {
      reason: 'punctuation',
      problem: `${has} accepted only in an A-label`,
      details: { character, source: 'RFC 5892' },
    }
  }
  return { reason: 'character', problem: `${has} not allowed in hostnames`, details: { character, source: UTS46 } }
}

/** Labels that are certainly misspelled: they are neither top-level domains nor likely names of private networks. */
const misspelled: ReadonlyMap<string, string> = new Map(
  [
    ['com', 'con cmo ocm vom xom cpm comm coom ccom c0m cim'],
    ['net', 'nte nett neet'],
    ['org', 'ogr orgg oorg'],
  ].flatMap(([meant = '', wrong = '']) => wrong.split(' ').map(label => [label, meant] as const)),
)

/**
 * Explains why a well-formed name is not known to be in the public DNS.
 *
 * @param sent The name as it was sent.
 */
export function explainUnknownTopLevel(sent: string): Mistake {
  const labels = sent.split(dots).filter(Boolean)
  const topLevel = labels.at(-1) ?? ''
  const meant = misspelled.get(topLevel.toLowerCase())
  const character = /[a-z]/i.test(topLevel) ? findForeign(topLevel) : undefined
  const hint = character === undefined ? '' : `; it has the character ${nameCharacter(character)} among Latin letters`
  return {
    reason: 'unknown_top_level',
    problem: `does not end in a known top-level domain${hint}`,
    details: { topLevel, character, source: `Public Suffix List of tldts ${suffixList.version}` },
    meant: meant && [...labels.slice(0, -1), meant].join('.'),
    isGuess: true,
  }
}
