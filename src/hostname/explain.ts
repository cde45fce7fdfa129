import { endsInNumber } from './address.ts'
import { dots, isAscii, type LabelFault, toALabels } from './idna/labels.ts'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './ldh-name.ts'
import type { Mistake } from './mistake.ts'
import { isInPublicDns } from './public-suffix.ts'
import { nameCharacter, quote } from './quote.ts'

/** A kind of mistake: its pattern, its description, and what the sender meant if that is certain. */
interface Row {
  readonly pattern: RegExp
  /** Default: names the character that the pattern finds. */
  readonly problem?: string
  /** What the sender meant in place of each text that the pattern finds. */
  readonly by?: string
  /** What the sender did not mean, where that is not what the pattern finds. */
  readonly drop?: RegExp
  /** The whole that the sender meant. @param text The faulty text; for a wildcard, the part after `*.`. */
  readonly undo?: (text: string, isWildcard: boolean) => string | undefined
}

/** With its slashes, as URLs and people write it: `https://`, `jdbc:mysql://`, `//`, `http:/`, `https//:`. */
const scheme = /^(?:(?:[a-z*][a-z0-9+-]*[:\uff1a])+[\\/]{2,}|\/{2,}|https?(?:[:;][\\/]*|[\\/]+:?[\\/]*))/i

/**
 * The mistakes that people paste, the most telling first. The first pattern that matches names the mistake. Each row
 * has its cases in `test/vectors/pasted-names.json`. A row undoes its own mistake only, and the rest is examined again:
 * a URL in quotes before a comma takes three rows. No row guesses: what it suggests is in the text, or spelled there.
 */
export const rows: readonly Row[] = [
  // From chats, PDF files and web pages: byte order marks, zero-width characters and bidi marks.
  { pattern: /[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/, by: '' },
  // Joiners shape letters of other scripts; among ASCII they do nothing.
  { pattern: /^[\0-\x7f]*[\u200c\u200d][\0-\x7f\u200c\u200d]*$/, drop: /[\u200c\u200d]/g },

  // Punctuation around a name, from lists, configuration files, spreadsheets and e-mail.
  { pattern: /^\[[^\]]*\]\([^)]*\)$/, problem: 'is a link in Markdown', undo: undoMarkdownLink },
  { pattern: /^(?:[-+*]|#+|[0-9]+[.)])\s+(?!\.)/, problem: 'begins like an item of a list or a comment', by: '' },
  { pattern: /^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]+\s*/, problem: 'begins with a bullet', by: '' },
  { pattern: /^\S+\s+(?:#|\/\/|[;(\u2013\u2014-])/, problem: 'has a remark after it', drop: /\s.*/s },
  { pattern: /^\|\|[^|^]+\^?$/, problem: 'is a filter rule of an ad blocker', drop: /[|^]/g },
  { pattern: /^=/, problem: 'begins with "="', by: '' },
  { pattern: /^[,;|\u3001\uff0c\uff1b]+/, problem: 'begins with a separator', by: '' },
  {
    pattern: /^[^,;!|\u2026\u3001\uff0c\uff1b]*[,;!|\u2026\u3001\uff0c\uff1b]+$/,
    problem: 'ends in punctuation',
    drop: /[,;!|\u2026\u3001\uff0c\uff1b].*/s,
  },
  {
    pattern: /^["'`<({]|^\[(?![^\]]*\][:.])|^[^/?#"'`<({[]*["'`>)}\]]$/,
    problem: 'has a quote or a bracket at its start or end',
    undo: text => stripEnd(text.replace(/^["'`<({[]+/, ''), `"'\`>)}],;`),
  },
  { pattern: /^[\u2018-\u201f\u00ab\u2039\u300c\u300e]+|[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/, by: '' },
  {
    pattern: /^(?:dns|(?:host_?|server_?|c)?name|host|domain|url|site|fqdn|cn|website)(?:\s*[:=]\s*|\s+)(?=\D)/i,
    problem: 'begins with the name of a field',
    by: '',
  },

  // A name in another notation.
  {
    pattern: /\[\.\]|\(\.\)|\[dot\]|\(dot\)|^hxxps?:/i,
    problem: 'is written so that nobody follows it as a link',
    undo: text => text.replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)/gi, '.').replace(/^hxxp/i, 'http'),
  },
  { pattern: scheme, problem: 'is a URL, not a hostname', undo: undoUrl },
  {
    pattern: /^[^/\\?#]*@/,
    problem: 'contains an "@", as in an e-mail address or a URL with a user name',
    undo: text => dropUserName(dropPath(text))?.replace(/>.*|:[^0-9].*/s, ''),
  },
  {
    pattern: /\\\./,
    problem: 'has a backslash before a dot, as in a regular expression',
    undo: text => (/[^\\]\./.test(text) ? undefined : text.replace(/\\\./g, '.').replace(/^\^|\$$/g, '')),
  },
  { pattern: /^[\d.]+#\d+$/, problem: 'contains a port, after a "#"', drop: /#.*/s },
  { pattern: /^[^?#]*[/\\]/, problem: 'contains a path', undo: text => dropPath(text.replace(/^[\\/]+/, '')) },
  { pattern: /^[^#?]+\?/, problem: 'contains a query', undo: dropPath },
  { pattern: /^[^#?]+#/, problem: 'contains a fragment', undo: dropPath },
  {
    pattern: /^\[?[0-9a-f]*:[0-9a-f:]*\]?\.$/i,
    problem: 'is an IPv6 address with a dot after it; only a name may end in one',
    drop: /\.$/,
  },
  {
    pattern: /^(?:[^:]*|\[[^\]]*\]):\s*(?:\d+|https?|ssh|s?ftp|smtps?|imaps?|pop3s?|ldaps?)$/i,
    problem: 'contains a port',
    drop: /:[^:]*$/,
  },
  { pattern: /^[^:.]+\.[^:]+::\d+$/, problem: 'contains a port, after two colons', drop: /:.*/s },
  { pattern: /^[^:]*:$/, problem: 'ends in a colon', drop: /:$/ },
  {
    pattern: /^(?=.*:.*:)[0-9a-f.:%[\]]+$/i,
    problem: 'contains colons and is not an IPv6 address (RFC 4291, section 2.2)',
  },

  // Typing mistakes.
  {
    pattern: /^(?:www,|[^.,]+,[^.,]+$)/i,
    problem: 'contains a comma where a dot belongs',
    undo: text => text.replace(',', '.'),
  },
  { pattern: /\s\.|\.\s/, problem: 'contains a space next to a dot', undo: dropSpacesBesideDots },
  { pattern: /\s/, problem: 'contains a space; if these are several hostnames, send each as an entry of its own' },
  {
    pattern: /[,;|]/,
    problem: 'contains a separator; if these are several hostnames, send each as an entry of its own',
  },
  { pattern: /^[\u204e\u2217\u2731\ufe61\uff0a](?=\.)/, by: '*' },
  { pattern: /^\*$/, problem: 'is a wildcard without a name; a wildcard looks like "*.example.com"' },
  { pattern: /\*/, problem: 'contains a "*" that is not the whole first label', undo: undoStar },
  {
    pattern: /(?:^|\.)_/,
    problem: 'has a label that begins with an underscore, as names of DNS records do (RFC 8552)',
    undo: (text, isWildcard) => (isWildcard ? undefined : dropRecordLabels(text)),
  },
  { pattern: /_/, problem: 'contains an underscore, which a hostname cannot contain (RFC 1123, section 2.1)' },
  { pattern: /%/, problem: 'contains a "%"; percent-encoding is not decoded' },
  {
    pattern: /^\.|\.\.|\.$|^$/,
    problem: 'has an empty label',
    undo: text => text.split(dots).filter(Boolean).join('.'),
  },
  { pattern: /[\u2024\ufe52]/, by: '.' },
  // Word processors make dashes of hyphens; only between letters is it certain that one was meant.
  { pattern: /[\u2010\u2011]|(?<=[\p{L}\p{N}])[\u2012-\u2014\u2212](?=[\p{L}\p{N}])/u, by: '-' },
]

/** Lines of files, which contain more than one name and are no list of names. */
const lines: readonly Row[] = [
  {
    pattern: /^(?:\d+\.\d+\.\d+\.\d+|[\da-f]*:[\da-f:]*)\s+(?!(?:and|or|to)\s)(?=[\w.-]*[a-z])[\w.-]+(?:\s|$)/i,
    problem: 'is a line of a hosts file; send only its names, each as an entry of its own',
  },
  {
    pattern: /^\S+\s+(?:\d+\s+)?(?:IN\s+)?(?:A|AAAA|CNAME|MX|NS|PTR|SOA|SRV|TXT)\s/,
    problem: 'is a line of a zone file; send only its names, each as an entry of its own',
  },
]

/**
 * Explains why a text is no hostname.
 *
 * @param sent Trimmed, without a trailing dot.
 * @param fault What is wrong with its labels; for a wildcard, with those after `*.`.
 */
export function explainInvalid(sent: string, fault: LabelFault): Mistake {
  const foreignDot = /^\*[\u3002\uff0e\uff61]/.exec(sent)?.[0].slice(1)
  if (foreignDot !== undefined) {
    const problem = `has the dot ${nameCharacter(foreignDot)} after its "*", where a wildcard has "."`
    return { problem, meant: `*.${sent.slice(2)}` }
  }
  const line = lines.find(({ pattern }) => pattern.test(sent))
  if (line?.problem !== undefined) return { problem: line.problem }
  const isForeign = !isAscii(sent)
  const whole = isForeign ? sent.split(dots).join('.') : sent
  if (containsSeveral(whole)) return { problem: 'contains several hostnames; send each as an entry of its own' }
  const isWildcard = /^\*\.\S/.test(whole)
  const text = isWildcard ? whole.slice(2) : whole
  // A row without a problem matches one character that is not ASCII.
  const row = rows.find(({ pattern, problem }) => (isForeign || problem !== undefined) && pattern.test(text))
  if (row === undefined) return { problem: explainFault(fault, whole) }

  const meant = undo(row, text, isWildcard)?.trim()
  return {
    problem: row.problem ?? explainFound(row.pattern, text),
    meant: meant && isWildcard && !meant.startsWith('*.') ? `*.${meant}` : meant,
  }
}

function undo({ pattern, by, drop, undo }: Row, text: string, isWildcard: boolean): string | undefined {
  if (by !== undefined) return text.split(pattern).join(by)
  return drop ? text.replace(drop, '') : undo?.(text, isWildcard)
}

function explainFound(pattern: RegExp, text: string): string {
  const [found = ''] = /[^\0-\x7f]/u.exec(pattern.exec(text)?.[0] ?? '') ?? []
  return explainCharacter(found)
}

/** Tells whether separators stand between two texts with dots, neither of which is a path or a query. */
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

function dropPath(text: string): string {
  return text.replace(/[/\\?#].*/s, '')
}

/** `[example.com](https://example.com)`. Silent if the text and the link name two hosts. */
function undoMarkdownLink(text: string): string | undefined {
  const [shown = '', target = ''] = text.slice(1, -1).split('](')
  const toName = (url: string) => dropPath(url.replace(scheme, '')).toLowerCase()
  return shown.includes('.') && toName(shown) !== toName(target) ? undefined : target
}

/** A URL may stand in another: `view-source:https://example.com`, `https://https://example.com`. */
function undoUrl(text: string): string | undefined {
  const rest = text.replace(scheme, '')
  return scheme.test(rest) ? rest : dropUserName(dropPath(rest))
}

/** Silent if what stands before an "@" may be the name that the sender meant: `good.com:443@evil.org`. */
function dropUserName(text: string): string | undefined {
  const parts = text.split('@')
  const last = parts.pop()
  return parts.some(couldBeMeant) ? undefined : last
}

/** Tells whether a user name is a name or an address itself, or has a port. */
function couldBeMeant(userName: string): boolean {
  if (/:\d*$|[[\]]/.test(userName)) return true
  const labels = userName.split('.').filter(Boolean)
  if (labels.length < 2) return false
  const [topLevel = ''] = /^[\p{L}\p{N}-]*/u.exec(labels.at(-1) ?? '') ?? []
  const mapped = toALabels(topLevel)
  return userName.includes(':') || typeof mapped !== 'string' || endsInNumber(mapped) || isInPublicDns(mapped)
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

/** `*example.com`, `www.*.example.com`, `**.example.com`. The meaning of a star inside a label is not certain. */
function undoStar(text: string): string | undefined {
  if (/^\*[^*._-][^*]*$/.test(text)) return `*.${text.slice(1)}`
  const labels = text.split('.')
  const rest = labels.slice(labels.findLastIndex(label => /^\*+$/.test(label)) + 1)
  const isWhole = labels.every(label => /^\*+$/.test(label) || !label.includes('*'))
  return isWhole && rest.length > 1 ? ['*', ...rest].join('.') : undefined
}

/** Removes the labels of a record: `_dmarc.example.com` is a record about `example.com`. */
function dropRecordLabels(text: string): string {
  const labels = text.split('.')
  return labels.slice(labels.findLastIndex(label => label.startsWith('_')) + 1).join('.')
}

/** Says what is wrong with a label, where no other mistake explains it. */
function explainFault(fault: LabelFault, whole: string): string {
  const { reason, label, character } = fault
  const isPlain = isAscii(label)
  if (/^xn--/i.test(label) && reason !== 'long label' && reason !== 'long name' && reason !== 'bidi') {
    const decoded = character === undefined ? '' : `; decoded, it contains the character ${nameCharacter(character)}`
    return `has a label that begins with "xn--" and is not an A-label (RFC 5890): ${quote(label)}${decoded}`
  }
  switch (reason) {
    case 'empty':
      return 'has a label of nothing but characters that UTS #46 ignores'
    case 'outer hyphen':
      return `has a label that begins or ends with a hyphen (RFC 1123, section 2.1): ${quote(label)}`
    case 'mark first':
      return `has a label that begins with a combining mark (UTS #46): ${quote(label)}`
    case 'bidi':
      return `has a label that breaks the Bidi rule of right-to-left names (RFC 5893): ${quote(label)}`
    case 'long label':
      return isPlain
        ? `has a label of ${label.length} characters, more than ${MAX_LABEL_LENGTH} (RFC 1035): ${quote(label)}`
        : `has a label that is too long in its ASCII form, over ${MAX_LABEL_LENGTH} characters: ${quote(label)}`
    case 'long name':
      return isPlain
        ? `has ${whole.length} characters, more than the ${MAX_NAME_LENGTH} of a hostname (RFC 1035)`
        : `is too long in its ASCII form; a hostname has at most ${MAX_NAME_LENGTH} characters (RFC 1035)`
    default:
      return explainCharacter(character ?? '')
  }
}

function explainCharacter(character: string): string {
  if (isAscii(character)) {
    return `contains the character ${quote(character)}; only letters, digits, hyphens and dots are allowed`
  }
  const isContextual = /[\u00b7\u0375\u05f3\u05f4\u30fb]|\u200c|\u200d/.test(character)
  const rule = isContextual
    ? 'which is allowed only next to certain others (RFC 5892, appendix A)'
    : 'which is not allowed in hostnames (UTS #46, RFC 5892)'
  return `contains the character ${nameCharacter(character)}, ${rule}`
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
  const hint = foreign === undefined ? '' : `; it has the character ${nameCharacter(foreign)} among Latin letters`
  return {
    problem: `is not in the public DNS: the Public Suffix List has no top-level domain ${quote(`.${topLevel}`)}${hint}`,
    meant: meant && [...labels.slice(0, -1), meant].join('.'),
  }
}
