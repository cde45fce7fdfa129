import { decodeALabels, isAscii } from './a-labels.ts'
import { dots, findRefusedCharacter } from './idna.ts'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './ldh-name.ts'
import { nameCharacter, quote } from './quote.ts'

/** A mistake in a text that is no hostname. */
export interface Mistake {
  /** Continues a sentence that begins with the quoted text. */
  readonly problem: string
  /** The text without the mistake, if the sender certainly meant that. It may hold another mistake. */
  readonly meant?: string | undefined
}

/** A kind of mistake: its pattern, its description, and what the sender meant if that is certain. */
interface Row {
  readonly pattern: RegExp
  /** Default: names the character that the pattern finds. */
  readonly problem?: string
  /** @param text The faulty text; for a wildcard, the part after `*.`. */
  readonly undo?: (text: string, isWildcard: boolean) => string | undefined
}

/**
 * The mistakes that people paste, the most telling first. The first pattern that matches names the mistake. Each row
 * has its cases in `test/vectors/pasted-names.json`. A row undoes its own mistake only, and the rest is examined again:
 * a URL in quotes before a comma takes three rows. No row guesses: what it suggests is in the text, or spelled there.
 */
export const rows: readonly Row[] = [
  // From chats, PDF files and web pages: byte order marks, zero-width characters and bidi marks.
  {
    pattern: /[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/,
    undo: text => text.replace(/[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/g, ''),
  },
  // Joiners shape letters of other scripts; among ASCII they do nothing.
  {
    pattern: /^[\0-\x7f]*[\u200c\u200d][\0-\x7f\u200c\u200d]*$/,
    undo: text => text.replace(/[\u200c\u200d]/g, ''),
  },

  // Punctuation around a name, from lists, configuration files, spreadsheets and e-mail.
  {
    pattern: /^(?:[-+]|[0-9]+[.)])\s+/,
    problem: 'begins like an item of a list',
    undo: text => text.replace(/^\S+\s+/, ''),
  },
  {
    pattern: /^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]/,
    undo: text => text.replace(/^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]\s*/, ''),
  },
  {
    pattern: /^\S+\s+(?:#|\/\/|;|-|\()/,
    problem: 'has a remark after it',
    undo: text => text.replace(/\s.*/s, ''),
  },
  {
    pattern: /^[^,;!|\u3001\uff0c\uff1b]*[,;!|]+$/,
    problem: 'ends in a separator',
    undo: text => text.replace(/[,;!|].*/s, ''),
  },
  {
    pattern: /^["'`<({]|^\[(?![^\]]*\][:.])|^[^/?#"'`<({[]*["'`>)}\]]$/,
    problem: 'is in quotes or brackets',
    undo: text => stripEnd(text.replace(/^["'`<({[]+/, ''), `"'\`>)}],;`),
  },
  {
    pattern: /^[\u2018-\u201f\u00ab\u2039\u300c\u300e]/,
    undo: text => stripEnd(text.slice(1), '\u2018\u2019\u201b\u201c\u201d\u201f\u00bb\u203a\u300d\u300f,;'),
  },
  {
    pattern: /[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/,
    undo: text => stripEnd(text, '\u2018\u2019\u201b\u201c\u201d\u201f\u00bb\u203a\u300d\u300f'),
  },
  {
    pattern: /^(?:dns|(?:host_?|server_?|c)?name|host|domain|url|site|fqdn|cn|website)(?:\s*[:=]\s*|\s+)(?=\D)/i,
    problem: 'begins with the name of a field',
    undo: text => text.replace(/^[a-z_]+(?:\s*[:=]\s*|\s+)/i, ''),
  },

  // A name in another notation.
  {
    pattern: /\[\.\]|\(\.\)|\[dot\]|\(dot\)|^hxxps?:/i,
    problem: 'is written so that it cannot be followed as a link',
    undo: text => text.replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)/gi, '.').replace(/^hxxp/i, 'http'),
  },
  {
    pattern: /\\\./,
    problem: 'is a regular expression, not a hostname',
    undo: text => text.replace(/\\\./g, '.').replace(/^\^/, '').replace(/\$$/, ''),
  },
  {
    pattern: /^(?:[a-z][a-z0-9+-]*:[\\/]{2,}|[\\/]{2,}|https?(?:[:;][\\/]*|[\\/]+:?[\\/]*))/i,
    problem: 'is a URL, not a hostname',
    undo: text => dropUserName(dropPath(text.replace(/^[a-z0-9+-]*[:;]?[\\/]*:?[\\/]*/i, ''))),
  },
  {
    pattern: /^[^/\\?#]*@/,
    problem: 'holds an "@", as an e-mail address or a user name does',
    // After a colon comes a port or, in the notation of scp and Git, a path on another host.
    undo: text => (/@[^@]*:[^0-9]/.test(text) ? undefined : dropPath(text).replace(/^.*@/s, '').replace(/>.*/s, '')),
  },
  { pattern: /[/\\?#]/, problem: 'holds a path', undo: text => dropPath(text.replace(/^[\\/]/, '')) },
  {
    pattern: /^\[?[0-9a-f]*:[0-9a-f:]*\]?\.$/i,
    problem: 'is an IPv6 address with a dot after it; only names may end in one',
    undo: text => text.slice(0, -1),
  },
  { pattern: /^(?:[^:]*|\[[^\]]*\]):[0-9]*$/, problem: 'holds a port', undo: text => text.replace(/:[0-9]*$/, '') },
  { pattern: /:[^:]*:/, problem: 'holds colons and is no IPv6 address (RFC 4291, section 2.2)' },

  // Typing mistakes.
  {
    pattern: /^(?:www,|[^.,]+,[^.,]+$)/i,
    problem: 'holds a comma where a dot belongs',
    undo: text => text.replace(',', '.'),
  },
  {
    pattern: /\s\.|\.\s/,
    problem: 'holds a space beside a dot',
    undo: dropSpacesBesideDots,
  },
  { pattern: /\s/, problem: 'holds a space; if it is several hostnames, send each as an entry of its own' },
  { pattern: /[,;|]/, problem: 'holds a separator; if it is several hostnames, send each as an entry of its own' },
  {
    pattern: /^[\u204e\u2217\u2731\ufe61\uff0a](?=\.)/,
    undo: text => `*${text.slice(1)}`,
  },
  {
    pattern: /\*/,
    problem: 'holds a "*" elsewhere than as the whole first label',
    undo: undoStar,
  },
  {
    pattern: /(?:^|\.)_/,
    problem: 'holds a label with an underscore, which names a record and not a host (RFC 8552)',
    undo: (text, isWildcard) => (isWildcard ? undefined : dropRecordLabels(text)),
  },
  { pattern: /_/, problem: 'holds an underscore, which a hostname cannot (RFC 1123, section 2.1)' },
  { pattern: /%/, problem: 'holds a "%"; percent-encoding is not decoded' },
  {
    pattern: /^\.|\.\.|\.$|^$/,
    problem: 'holds an empty label',
    undo: text => text.split(dots).filter(Boolean).join('.'),
  },
  { pattern: /[\u2024\ufe52]/, undo: text => text.replace(/[\u2024\ufe52]/g, '.') },
  { pattern: /[\u2010\u2011]/, undo: text => text.replace(/[\u2010\u2011]/g, '-') },
]

/** Explains why a text is no hostname. The text is trimmed and has no trailing dot. */
export function explainInvalid(sent: string): Mistake {
  const isForeign = !isAscii(sent)
  const host = isForeign ? sent.split(dots).join('.') : sent
  if (holdsSeveral(host)) return { problem: 'holds several hostnames; send each as an entry of its own' }
  const isWildcard = /^\*\.\S/.test(host)
  const text = isWildcard ? host.slice(2) : host
  // A row without a problem matches one character that is not ASCII.
  const row = rows.find(({ pattern, problem }) => (isForeign || problem !== undefined) && pattern.test(text))
  if (row === undefined) return { problem: explainLabels(text) ?? explainCharacters(text) }

  const meant = row.undo?.(text, isWildcard)?.trim()
  return {
    problem: row.problem ?? explainFound(row.pattern, text),
    meant: meant && isWildcard && !meant.startsWith('*.') ? `*.${meant}` : meant,
  }
}

function explainFound(pattern: RegExp, text: string): string {
  const [found = ''] = /[^\0-\x7f]/u.exec(pattern.exec(text)?.[0] ?? '') ?? []
  return `holds the character ${nameCharacter(found)}, ${NOT_ALLOWED}`
}

const NOT_ALLOWED = 'which a hostname cannot hold (UTS #46, RFC 5892)'

/** Tells whether separators stand between two texts with dots, neither of which is a path or a query. */
function holdsSeveral(text: string): boolean {
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

const dropPath = (text: string) => text.replace(/[/\\?#].*/s, '')

/** If the user name has a dot, it may be the host that the sender meant. */
function dropUserName(text: string): string | undefined {
  const at = text.lastIndexOf('@')
  return text.slice(0, Math.max(at, 0)).includes('.') ? undefined : text.slice(at + 1)
}

function dropSpacesBesideDots(text: string): string | undefined {
  const labels = text.split(dots).map(label => label.trim())
  return labels.some(label => /\s/.test(label)) ? undefined : labels.join('.')
}

function stripEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] as string)) end -= 1
  return text.slice(0, end)
}

/** `*example.com`, `www.*.example.com`, `*.*.example.com`. The meaning of a star inside a label is not certain. */
function undoStar(text: string): string | undefined {
  if (/^\*[^*._-][^*]*$/.test(text)) return `*.${text.slice(1)}`
  const labels = text.split('.')
  const rest = labels.slice(labels.lastIndexOf('*') + 1)
  const isWhole = labels.every(label => label === '*' || !label.includes('*'))
  return isWhole && rest.length > 1 ? ['*', ...rest].join('.') : undefined
}

/** Removes the labels of a record: `_dmarc.example.com` is a record about `example.com`. */
function dropRecordLabels(text: string): string {
  const labels = text.split('.')
  return labels.slice(labels.findLastIndex(label => label.startsWith('_')) + 1).join('.')
}

/** The rules of RFC 1035, 1123 and 5890 for labels that need no table. */
function explainLabels(text: string): string | undefined {
  const labels = text.split('.')
  const isPlain = /^[a-z0-9.-]*$/i.test(text)
  const outer = labels.find(label => label.startsWith('-') || label.endsWith('-'))
  const long = labels.find(label => label.length > MAX_LABEL_LENGTH)
  const aLabel = labels.find(label => /^xn--/i.test(label))
  if (isPlain && text.length > MAX_NAME_LENGTH) {
    return `has ${text.length} characters, more than the ${MAX_NAME_LENGTH} of a hostname (RFC 1035)`
  }
  if (isPlain && long !== undefined) {
    return `has a label of ${long.length} characters, more than ${MAX_LABEL_LENGTH} (RFC 1035): ${quote(long)}`
  }
  if (outer !== undefined) {
    return `has a label that begins or ends with a hyphen (RFC 1123, section 2.1): ${quote(outer)}`
  }
  return isPlain && aLabel !== undefined
    ? `has a label that begins with "xn--" and is no A-label (RFC 5890): ${quote(aLabel)}${explainALabel(aLabel)}`
    : undefined
}

function explainALabel(aLabel: string): string {
  const decoded = decodeALabels(aLabel.toLowerCase())
  const refused = decoded === null ? undefined : findRefusedCharacter(decoded)
  return refused === undefined ? '' : `, which holds the character ${nameCharacter(refused)}`
}

function explainCharacters(text: string): string {
  const ascii = /[^a-z0-9.\u0080-\uffff-]/i.exec(text)?.[0]
  if (ascii !== undefined) {
    return `holds the character ${quote(ascii)}; only letters, digits, hyphens and dots are allowed`
  }
  const refused = findRefusedCharacter(text)
  if (refused !== undefined) return `holds the character ${nameCharacter(refused)}, ${NOT_ALLOWED}`
  return 'is not a valid internationalized hostname (UTS #46), or is too long in its ASCII form'
}

/** Certain misspellings: neither top-level domains, nor names that anybody gives to a private network. */
const misspelled: ReadonlyMap<string, string> = new Map(
  [
    ['com', 'con cmo ocm vom xom cpm comm coom ccom c0m cim'],
    ['net', 'nte nett neet'],
    ['org', 'ogr orgg oorg'],
  ].flatMap(([meant = '', wrong = '']) => wrong.split(' ').map(label => [label, meant] as const)),
)

/** Explains why a well-formed name, as it was sent, is not in the public DNS. */
export function explainUnknownTopLevel(sent: string): Mistake {
  const labels = sent.split(dots).filter(Boolean)
  const topLevel = labels.at(-1) ?? ''
  const meant = misspelled.get(topLevel.toLowerCase())
  const foreign = /[a-z]/i.test(topLevel) ? /[^\0-\x7f]/u.exec(topLevel)?.[0] : undefined
  const hint = foreign === undefined ? '' : `; it holds the character ${nameCharacter(foreign)} among Latin letters`
  return {
    problem: `is not in the public DNS: the Public Suffix List has no top-level domain ${quote(`.${topLevel}`)}${hint}`,
    meant: meant && [...labels.slice(0, -1), meant].join('.'),
  }
}
