import { endsInNumber } from './address.ts'
import { isLetterOrDigit } from './idna/characters.ts'
import { dots, toALabels } from './idna/labels.ts'
import type { HostnameReason } from './mistake.ts'
import { isInPublicDns } from './public-suffix.ts'

/** A kind of mistake: its pattern, its description, and how to find what the sender meant, if that is certain. */
export interface MistakeKind {
  readonly reason: HostnameReason
  readonly pattern: RegExp
  /** By default, the message names the character that the pattern finds. */
  readonly problem?: string
  /** What to do if no suggestion is certain. */
  readonly advice?: string
  /** The text that the sender meant, which replaces each match of the pattern. */
  readonly by?: string
  /** Matches the part to remove, if that is not the part that `pattern` matches. */
  readonly drop?: RegExp
  /**
   * Returns the whole hostname that the sender meant.
   *
   * @param text The faulty input; for a wildcard, the part after `*.`.
   */
  readonly undo?: (text: string, isWildcard: boolean) => string | undefined
}

const NAMES_OF_LINE = 'send only its names, each as a separate entry'

/** Returns the part of a string that the first group of a pattern matches. */
const find = (pattern: RegExp) => (text: string) => pattern.exec(text)?.[1]

const adBlockerRule = /^(?:@@)?\|\|([^|^$]+)\^?(?:\$.*)?$/
const proxyRule = /^DOMAIN(?:-SUFFIX)?,([^,]+)(?:,[^.]*)?$/
const dnsmasqLine = /^(?:address|server|local)=\/([^/]+)\/[^/]*$/
const unboundLine = /^local-zone:\s*"?([^\s"]+)"?\s+\w+$/
const jsonObject = /^\{\s*"[^"]*"\s*:\s*"([^"]*)"\s*\}$/

/**
 * Patterns for a name that was sent with the rest of its line, for instance from a hosts file. These patterns are tried
 * first, on the whole input, because the separators within such a line do not separate hostnames. As in {@link rows},
 * each row has test cases, and the first pattern that matches determines the mistake.
 */
export const lines: readonly MistakeKind[] = [
  {
    reason: 'hosts_file_line',
    pattern: /^(?:\d+\.\d+\.\d+\.\d+|[\da-f]*:[\da-f:]*)\s+(?!\d+\.\d)(?:[\w-]+\.[\w.-]*[a-z]|\w*localhost)(?:\s|$)/i,
    problem: 'is a line of a hosts file',
    advice: NAMES_OF_LINE,
  },
  {
    reason: 'remark',
    pattern: /^(?:\d+\.\d+\.\d+\.\d+|[\da-f]*:[\da-f:]*:[\da-f]*)\s+(?!(?:and|or|to)$)[a-z][\w-]*$/i,
    problem: 'has a comment after it',
    drop: /\s.*/s,
  },
  {
    reason: 'zone_file_line',
    pattern: /^\S+\s+(?:\d+\s+)?(?:IN\s+)?(?:A\s+\d+\.\d|AAAA\s+[\da-f]*:|(?:CNAME|NS|PTR|SOA)\s+\S+\.)/,
    problem: 'is a line of a zone file',
    advice: NAMES_OF_LINE,
  },
  {
    reason: 'zone_file_line',
    pattern: /^\S+\s+(?:\d+\s+)?(?:IN\s+)?(?:(?:MX|SRV)\s+\d+\s|TXT\s+")/,
    problem: 'is a line of a zone file',
    advice: NAMES_OF_LINE,
  },
  {
    reason: 'ad_blocker_exception',
    pattern: /^@@\|\|/,
    problem: 'is an exception from the filter list of an ad blocker',
    undo: find(adBlockerRule),
  },
  {
    reason: 'ad_blocker_rule',
    pattern: adBlockerRule,
    problem: 'is a rule from the filter list of an ad blocker',
    undo: find(adBlockerRule),
  },
  {
    reason: 'proxy_rule',
    pattern: proxyRule,
    problem: 'is a rule for a proxy such as Clash or Surge',
    undo: find(proxyRule),
  },
  {
    reason: 'dnsmasq_line',
    pattern: dnsmasqLine,
    problem: 'is a line of a dnsmasq configuration',
    undo: find(dnsmasqLine),
  },
  {
    reason: 'unbound_line',
    pattern: unboundLine,
    problem: 'is a line of an Unbound configuration',
    undo: find(unboundLine),
  },
  {
    reason: 'command',
    pattern: /^(?:curl|wget)\s+(?:-\S+\s+)*(?=https?:\/\/\S+$)/,
    problem: 'is a command with a URL',
    by: '',
  },
  {
    reason: 'json_object',
    pattern: /^\{\s*"[^"]*"\s*:.*\}$/s,
    problem: 'is a JSON object',
    advice: 'send only the hostname in it',
    undo: find(jsonObject),
  },
  {
    reason: 'written_object',
    pattern: /^\[object \w+\]$/,
    problem: 'is what JavaScript writes for an object',
    advice: 'send the hostname in it',
  },
]

/**
 * A scheme and its slashes, as in URLs or as people mistype them: `https://`, `jdbc:mysql://`, `//`, `http:/`,
 * `https//:`.
 */
const scheme = /^(?:(?:[a-z*][a-z0-9+-]*[:\uff1a])+[\\/]{2,}|\/{2,}|https?(?:[:;][\\/]*|[\\/]+:?[\\/]*))/i

/**
 * Mistakes in pasted text, the most specific first. The first pattern that matches determines the mistake. Each row has
 * test cases in `test/vectors/pasted-names.json`. Each row undoes one kind of mistake, and then the rest of the input
 * is examined: a URL in quotes before a comma needs three rows. No row guesses: every suggestion is a part of the
 * input, in the same or in another spelling.
 */
export const rows: readonly MistakeKind[] = [
  // From chats, PDF files and web pages: byte order marks, zero-width characters and bidi marks.
  {
    reason: 'invisible_character',
    pattern: /[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/,
    by: '',
  },
  // Joiners shape the letters of some scripts. Among ASCII characters, joiners do nothing, so they are removed.
  {
    reason: 'invisible_character',
    pattern: /^[\0-\x7f]*[\u200c\u200d][\0-\x7f\u200c\u200d]*$/,
    drop: /[\u200c\u200d]/g,
  },

  // Punctuation around a name, from lists, configuration files, spreadsheets and e-mail.
  {
    reason: 'markdown_link',
    pattern: /^\[[^\]]*\]\([^)]*\)$/,
    problem: 'is a link in Markdown',
    undo: undoMarkdownLink,
  },
  {
    reason: 'list_item',
    pattern: /^(?:[-+*]|#+|[0-9]+[.)])\s+(?!\.)/,
    problem: 'begins like a list item or a comment',
    by: '',
  },
  {
    reason: 'bullet',
    pattern: /^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]+\s*/,
    problem: 'begins with a bullet',
    by: '',
  },
  {
    reason: 'remark',
    pattern: /^\S+\s+(?:#|\/\/|[;(\u2013\u2014-])/,
    problem: 'has a comment after it',
    drop: /\s.*/s,
  },
  {
    reason: 'html_reference',
    pattern: /^[^/?#]*&(?:#\d+|#x[\da-f]+|[a-z]{2,8});/i,
    problem: 'contains an HTML character reference, which is not decoded',
  },
  { reason: 'equals_sign', pattern: /^=/, problem: 'begins with "="', by: '' },
  { reason: 'leading_separator', pattern: /^[,;|\u3001\uff0c\uff1b]+/, problem: 'begins with a separator', by: '' },
  {
    reason: 'trailing_punctuation',
    pattern: /^[^,;!|\u2026\u3001\uff0c\uff1b]*[,;!|\u2026\u3001\uff0c\uff1b]+$/,
    problem: 'ends in punctuation',
    drop: /[,;!|\u2026\u3001\uff0c\uff1b].*/s,
  },
  {
    reason: 'quote_or_bracket',
    pattern: /^["'`<({]|^\[(?![^\]]*\][:.])|^[^/?#"'`<({[]*["'`>)}\]]$/,
    problem: 'has a quotation mark or bracket at its start or end',
    undo: text => stripEnd(text.replace(/^["'`<({[]+/, ''), `"'\`>)}],;`),
  },
  {
    reason: 'typographic_quote',
    pattern: /^[\u2018-\u201f\u00ab\u2039\u300c\u300e]+|[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/,
    by: '',
  },
  {
    reason: 'field_name',
    pattern: /^(?:dns|(?:host_?|server_?|c)?name|host|domain|url|site|fqdn|cn|website)\s*[:=](?!\/\/)\s*(?=\D)/i,
    problem: 'begins with a field name',
    by: '',
  },
  // A word before white space may be anything, so only a few words count as field names.
  {
    reason: 'field_name',
    pattern: /^(?:(?:server_?|host_)name\s+(?=\D)|(?:host|domain|url|site|website)\s+(?=[a-z]+:\/\/))/i,
    problem: 'begins with a field name',
    by: '',
  },

  // A name in another notation.
  {
    reason: 'defanged',
    pattern: /\[\.\]|\(\.\)|\[dot\]|\(dot\)|^hxxps?:/i,
    problem: 'is defanged (written so that it is not a link)',
    undo: text => text.replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)/gi, '.').replace(/^hxxp/i, 'http'),
  },
  { reason: 'url', pattern: scheme, problem: 'is a URL, not a hostname', undo: undoUrl },
  {
    reason: 'at_sign',
    pattern: /^[^/\\?#]*@/,
    problem: 'contains an "@", as in an e-mail address or a URL with a user name',
    undo: text => dropUserName(dropPath(text))?.replace(/>.*|:[^0-9].*/s, ''),
  },
  {
    reason: 'regular_expression',
    pattern: /\\\./,
    problem: 'has a backslash before a dot, as in a regular expression',
    undo: text => (/[^\\]\./.test(text) ? undefined : text.replace(/\\\./g, '.').replace(/^\^|\$$/g, '')),
  },
  { reason: 'port', pattern: /^[\d.]+#\d+$/, problem: 'contains a port after a "#"', drop: /#.*/s },
  // A backslash after a name without a dot is part of an account name, and does not begin a path: `WORKGROUP\SERVER`.
  {
    reason: 'path',
    pattern: /^[^?#\\]*\/|^\\\\|^[a-z]:\\|^[^?#\\/.]*\.[^?#\\/]*\\/i,
    problem: 'contains a path',
    undo: text => dropPath(text.replace(/^[\\/]+/, '')),
  },
  { reason: 'query', pattern: /^[^#?]+\?/, problem: 'contains a query', undo: dropPath },
  { reason: 'fragment', pattern: /^[^#?]+#/, problem: 'contains a fragment', undo: dropPath },
  {
    reason: 'address_with_dot',
    pattern: /^\[?[0-9a-f]*:[0-9a-f:]*\]?\.$/i,
    problem: 'is an IPv6 address with a dot after it; only names may end in a dot',
    drop: /\.$/,
  },
  {
    reason: 'port',
    pattern: /^(?:[^:]*|\[[^\]]*\]):\s*(?:\d+|https?|ssh|s?ftp|smtps?|imaps?|pop3s?|ldaps?)$/i,
    problem: 'contains a port',
    drop: /:[^:]*$/,
  },
  { reason: 'port', pattern: /^[^:.]+\.[^:]+::\d+$/, problem: 'contains a port after two colons', drop: /:.*/s },
  { reason: 'trailing_colon', pattern: /^[^:]*:$/, problem: 'ends in a colon', drop: /:$/ },
  {
    reason: 'not_an_ipv6_address',
    pattern: /^(?=.*:.*:)[0-9a-f.:%[\]]+$/i,
    problem: 'contains colons and is not an IPv6 address (RFC 4291, section 2.2)',
  },

  // Typing mistakes.
  {
    reason: 'comma',
    pattern: /^(?:www,|[^.,]+,[^.,]+$)/i,
    problem: 'contains a comma in place of a dot',
    undo: text => text.replace(',', '.'),
  },
  {
    reason: 'space_beside_dot',
    pattern: /\s\.|\.\s/,
    problem: 'contains a space next to a dot',
    undo: dropSpacesBesideDots,
  },
  { reason: 'space', pattern: /\s/, problem: 'contains a space' },
  { reason: 'separator', pattern: /[,;|]/, problem: 'contains a separator' },
  { reason: 'star_character', pattern: /^[\u204e\u2217\u2731\ufe61\uff0a](?=\.)/, by: '*' },
  {
    reason: 'wildcard_alone',
    pattern: /^\*$/,
    problem: 'is a wildcard without a name',
    advice: 'send one such as "*.example.com"',
  },
  {
    reason: 'misplaced_star',
    pattern: /\*/,
    problem: 'contains a "*" that is not the whole first label',
    undo: undoStar,
  },
  {
    reason: 'record_name',
    pattern: /(?:^|\.)_/,
    problem: 'has a label that begins with an underscore, like the names of DNS records (RFC 8552)',
    undo: (text, isWildcard) => (isWildcard ? undefined : dropRecordLabels(text)),
  },
  {
    reason: 'underscore',
    pattern: /_/,
    problem: 'contains an underscore, which is allowed in DNS names but not in hostnames (RFC 1123, section 2.1)',
  },
  { reason: 'percent_sign', pattern: /%/, problem: 'contains a "%"; percent-encoding is not decoded' },
  {
    reason: 'empty_label',
    pattern: /^\.|\.\.|\.$|^$/,
    problem: 'has an empty label',
    undo: text => text.split(dots).filter(Boolean).join('.'),
  },
  { reason: 'dot_character', pattern: /[\u2024\ufe52]/, by: '.' },
  { reason: 'typographic_dash', pattern: /[\u2010-\u2014\u2212]/, undo: undoDashes },
]

export function dropPath(text: string): string {
  return text.replace(/[/\\?#].*/s, '')
}

/** `[example.com](https://example.com)`. Suggests nothing if the text and the link name different hosts. */
function undoMarkdownLink(text: string): string | undefined {
  const [shown = '', target = ''] = text.slice(1, -1).split('](')
  const toHost = (url: string) => dropPath(url.replace(scheme, '')).toLowerCase()
  return shown.includes('.') && toHost(shown) !== toHost(target) ? undefined : target
}

/**
 * Removes the scheme. If the rest is another URL, that URL is examined next: `view-source:https://example.com`,
 * `https://https://example.com`.
 */
function undoUrl(text: string): string | undefined {
  const rest = text.replace(scheme, '')
  return scheme.test(rest) ? rest : dropUserName(dropPath(rest))
}

/** Suggests nothing if the part before an "@" may be the name that the sender meant: `good.com:443@evil.org`. */
function dropUserName(text: string): string | undefined {
  const parts = text.split('@')
  const last = parts.pop()
  return parts.some(couldBeMeant) ? undefined : last
}

/** Returns whether a user name could be the hostname that was meant: a name, an address, or something with a port. */
function couldBeMeant(userName: string): boolean {
  if (/:\d*$|[[\]]/.test(userName)) return true
  const labels = userName.split('.').filter(Boolean)
  if (labels.length < 2) return false
  const last = Array.from(labels.at(-1) ?? '')
  const end = last.findIndex(character => character !== '-' && !isLetterOrDigit(character))
  const mapped = toALabels(last.slice(0, end === -1 ? last.length : end).join(''))
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

/**
 * `*example.com`, `www.*.example.com`, `**.example.com`. Suggests nothing for a star inside a label, because its
 * meaning is uncertain.
 */
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

/**
 * Turns dashes back into hyphens, because word processors replace hyphens with dashes. Only a dash between letters
 * certainly stands for a hyphen. Suggests nothing for `xn–`, where a word processor has turned two hyphens into one
 * dash.
 */
function undoDashes(text: string): string | undefined {
  if (/(?:^|\.)xn[\u2010-\u2014\u2212]/i.test(text)) return undefined
  const characters = Array.from(text)
  const isBetweenLetters = (at: number) => [at - 1, at + 1].every(beside => isLetterOrDigit(characters[beside] ?? ''))
  const written = characters.map((character, at) => {
    const isHyphen =
      /[\u2010\u2011]/.test(character) || (/[\u2012-\u2014\u2212]/.test(character) && isBetweenLetters(at))
    return isHyphen ? '-' : character
  })
  const undone = written.join('')
  return undone === text ? undefined : undone
}
