import { kinds, survey } from './idna/characters.ts'
import { dots, isAscii, type LabelFault } from './idna/labels.ts'
import { mapCharacter } from './idna/mapping.ts'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './ldh-name.ts'
import type { Mistake } from './mistake.ts'
import { dropPath, lines, type MistakeKind, rows } from './pasted-text.ts'
import { nameCharacter, quote } from './quote.ts'
import { suffixList } from './suffix-list.ts'

/**
 * Explains why an input is not a hostname.
 *
 * @param sent Trimmed, without a trailing dot.
 * @param fault The fault in the labels of the input; for a wildcard, in the labels after `*.`.
 */
export function explainInvalid(sent: string, fault: LabelFault): Mistake {
  const foreignDot = /^\*[\u3002\uff0e\uff61]/.exec(sent)?.[0].slice(1)
  if (foreignDot !== undefined) {
    const problem = `has the dot ${nameCharacter(foreignDot)} after its "*"; a wildcard has "." there`
    return { reason: 'wildcard_dot', problem, details: { character: foreignDot }, meant: `*.${sent.slice(2)}` }
  }
  const line = lines.find(({ pattern }) => pattern.test(sent))
  if (line !== undefined) return toMistake(line, sent, false)
  const isForeign = !isAscii(sent)
  const whole = isForeign ? sent.split(dots).join('.') : sent
  if (containsSeveral(whole)) {
    const advice = 'send each as a separate entry'
    return { reason: 'several_hostnames', problem: 'contains several hostnames', advice }
  }
  const isWildcard = /^\*\.\S/.test(whole)
  const text = isWildcard ? whole.slice(2) : whole
  // A row without a `problem` matches one non-ASCII character, so it is skipped if the input is ASCII.
  const row = rows.find(({ pattern, problem }) => (isForeign || problem !== undefined) && pattern.test(text))
  return row === undefined ? explainFault(fault, whole) : toMistake(row, text, isWildcard)
}

function toMistake(row: MistakeKind, text: string, isWildcard: boolean): Mistake {
  const { reason, problem, advice, pattern } = row
  const found = problem === undefined ? findForeign(pattern.exec(text)?.[0] ?? '') : ''
  const meant = undo(row, text, isWildcard)?.trim()
  return {
    reason,
    problem: problem ?? `contains the character ${nameCharacter(found)}, ${ruleOf(found)}`,
    advice,
    details: problem === undefined ? { character: found } : undefined,
    meant: meant && isWildcard && !meant.startsWith('*.') ? `*.${meant}` : meant,
  }
}

function undo({ pattern, by, drop, undo }: MistakeKind, text: string, isWildcard: boolean): string | undefined {
  if (by !== undefined) return text.split(pattern).join(by)
  return drop ? text.replace(drop, '') : undo?.(text, isWildcard)
}

const findForeign = (text: string) => /[^\0-\x7f]/u.exec(text)?.[0] ?? ''

/**
 * Returns whether separators divide the input into several strings that contain dots. Dots in paths and queries do not
 * count.
 */
function containsSeveral(text: string): boolean {
  if (!separator.test(text)) return false
  let names = 0
  for (const word of text.split(/\s+|[,;|\u3001\uff0c\uff1b](?=[a-z]+:\/\/)/i)) {
    if (!word.includes('.')) continue
    const parts = dropPath(word.replace(/^[a-z]+:\/\//i, '')).split(separator)
    names += parts.filter(part => /[^.]\.[^.]/.test(part)).length
    if (names > 1) return true
  }
  return false
}

const separator = /[\s,;|\u3001\uff0c\uff1b]/

/** Explains the fault in a label, if no other mistake was found in the input. */
function explainFault(fault: LabelFault, whole: string): Mistake {
  const { reason, label, character } = fault
  if (/^xn--/i.test(label) && ['not an A-label', 'disallowed character', 'mark first'].includes(reason)) {
    const decoded = character === undefined ? '' : `; decoded, it contains the character ${nameCharacter(character)}`
    const problem = `has a label that begins with "xn--" and is not an A-label (RFC 5890): ${quote(label)}${decoded}`
    return { reason: 'not_an_a_label', problem, details: { label, character } }
  }
  switch (reason) {
    case 'empty':
      return { reason: 'ignored_characters', problem: 'has a label that consists of characters that UTS #46 ignores' }
    case 'outer hyphen':
      return {
        reason: 'outer_hyphen',
        problem: `has a label that begins or ends with a hyphen (RFC 1123, section 2.1): ${quote(label)}`,
        details: { label },
      }
    case 'mark first':
      return {
        reason: 'combining_mark_first',
        problem: `has a label that begins with a combining mark (UTS #46): ${quote(label)}`,
        details: { label },
      }
    case 'bidi':
      return {
        reason: 'bidi',
        problem: `has a label that breaks the Bidi rule of right-to-left names (RFC 5893): ${quote(label)}`,
        details: { label },
      }
    case 'long label':
      return explainLongLabel(label, whole)
    case 'long name':
      return explainLongName(isAscii(label) ? whole.length : undefined)
    default:
      return explainCharacter(character ?? '')
  }
}

/** A label at the start of the input need not be quoted, because the message already quotes the input. */
function explainLongLabel(label: string, whole: string): Mistake {
  const [has, shown] = whole.startsWith(label) ? ['begins with', ''] : ['has', `: ${quote(label)}`]
  const length = isAscii(label) ? label.length : undefined
  const problem =
    length === undefined
      ? `${has} a label that is too long in its ASCII form, over ${MAX_LABEL_LENGTH} characters (RFC 1035)${shown}`
      : `${has} a label of ${length} characters, more than ${MAX_LABEL_LENGTH} (RFC 1035)${shown}`
  return { reason: 'label_too_long', problem, details: { label, length } }
}

/** @param length The length of the name if it is ASCII. */
const explainLongName = (length: number | undefined): Mistake => ({
  reason: 'name_too_long',
  problem:
    length === undefined
      ? `is too long in its ASCII form; a hostname has at most ${MAX_NAME_LENGTH} characters (RFC 1035)`
      : `has ${length} characters, more than the ${MAX_NAME_LENGTH} allowed in a hostname (RFC 1035)`,
  details: { length },
})

function explainCharacter(character: string): Mistake {
  const details = { character }
  if (isAscii(character)) {
    const problem = `contains the character ${quote(character)}; only letters, digits, hyphens and dots are allowed`
    return { reason: 'character', problem, details }
  }
  const problem = `contains the character ${nameCharacter(character)}, ${ruleOf(character)}`
  if (isContextual(character)) return { reason: 'misplaced_character', problem, details }
  return { reason: isOnlyInALabels(character) ? 'punctuation' : 'character', problem, details }
}

/** Describes the rule that a non-ASCII character breaks. */
function ruleOf(character: string): string {
  if (isContextual(character)) return 'which is allowed only next to certain others (RFC 5892, appendix A)'
  return isOnlyInALabels(character)
    ? 'which is accepted only in an A-label (RFC 5892)'
    : 'which is not allowed in hostnames (UTS #46)'
}

const isContextual = (character: string) => /[\u00b7\u0375\u05f3\u05f4\u30fb]|\u200c|\u200d/.test(character)

/** Whether UTS #46 allows a character that IDNA2008 counts as punctuation. */
const isOnlyInALabels = (character: string) => (survey(mapCharacter(character) ?? '') & kinds.PUNCTUATION) !== 0

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
  const character = /[a-z]/i.test(topLevel) ? /[^\0-\x7f]/u.exec(topLevel)?.[0] : undefined
  const hint = character === undefined ? '' : `; it has the character ${nameCharacter(character)} among Latin letters`
  const { version, published } = suffixList
  const age = published ? `, published on ${published}` : ''
  const list = `this server's Public Suffix List knows (tldts ${version})${age}`
  return {
    reason: 'unknown_top_level',
    problem: `has no top-level domain that ${list}${hint}`,
    details: { topLevel, character },
    meant: meant && [...labels.slice(0, -1), meant].join('.'),
  }
}
