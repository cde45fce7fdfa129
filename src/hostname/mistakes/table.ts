import { readIPv4, readIPv6 } from '../address.ts'
import { adBlockerRule } from './meant.ts'
import { FULL_NAME, type HostnameReason } from './mistake.ts'
import { bullets, command, commentMark, fieldNames, listMark, nameField, scheme } from './tokens.ts'
import { isZoneFileLine } from './zone-file-line.ts'

/** A kind of mistake: how to recognize it, and its description. What was meant is read from the text's tokens. */
export interface MistakeKind {
  readonly reason: HostnameReason
  readonly pattern: Pick<RegExp, 'test'> & Partial<Pick<RegExp, 'exec'>>
  /** By default, the message names the first character beyond ASCII that the pattern finds. */
  readonly problem?: string
  /** The document with the rule that the input breaks. */
  readonly source?: string
  /** What to do if there is no suggestion: a sentence without its full stop. */
  readonly advice?: string
  /** Whether only the sender knows which names of the line are meant. */
  readonly isLine?: boolean
}

const NAMES_OF_LINE = 'Enter only its names, each as a separate entry'
const HOSTNAME_IN_IT = 'Enter only the hostname in it'
const WILDCARD = 'A wildcard is written like "*.example.com"'
const WITHOUT_SPACES = 'Enter one hostname, without spaces'

/**
 * Patterns for a name that was sent with the rest of its line, for instance from a hosts file. These patterns are tried
 * first, on the whole input, because the separators within such a line do not separate hostnames. As in {@link rows},
 * each row has test cases, and the first pattern that matches determines the mistake.
 */
export const lines: readonly MistakeKind[] = [
  {
    reason: 'hosts_file_line',
    pattern: { test: isHostsFileLine },
    problem: 'is a line of a hosts file',
    advice: NAMES_OF_LINE,
    isLine: true,
  },
  {
    reason: 'remark',
    pattern: /^(?:\d+\.\d+\.\d+\.\d+|[\da-f]*:[\da-f:]*:[\da-f]*)\s+[a-z][\w-]*$/i,
    problem: 'has a comment after it',
  },
  {
    reason: 'zone_file_line',
    pattern: { test: isZoneFileLine },
    problem: 'is a line of a zone file',
    advice: NAMES_OF_LINE,
    isLine: true,
  },
  {
    reason: 'ad_blocker_rule',
    pattern: adBlockerRule,
    problem: 'is a rule from the filter list of an ad blocker',
  },
  {
    reason: 'command',
    pattern: command,
    problem: 'looks like a command',
    advice: HOSTNAME_IN_IT,
  },
  { reason: 'json_object', pattern: /^\{\s*"[^"]*"\s*:.*\}$/s, problem: 'is a JSON object', advice: FULL_NAME },
  {
    reason: 'written_object',
    pattern: /^\[object \w+\]$/,
    problem: 'is what JavaScript writes for an object',
    advice: FULL_NAME,
  },
]

/**
 * Mistakes in pasted text, the most specific first. The first pattern that matches determines the mistake. Each row has
 * test cases in `test/vectors/pasted-names.json`.
 */
export const rows: readonly MistakeKind[] = [
  // From chats, PDF files and web pages: byte order marks, zero-width characters and bidi marks.
  { reason: 'invisible_character', pattern: /[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/ },
  { reason: 'invisible_character', pattern: /^[\0-\x7f]*[\u200c\u200d][\0-\x7f\u200c\u200d]*$/ },

  // Browsers, mail programs and tables shorten names to make them fit.
  {
    reason: 'shortened',
    pattern: { test: isShortened },
    problem: 'looks shortened',
    advice: 'Enter the full name',
  },

  // Punctuation around a name, from lists, configuration files, spreadsheets and e-mail.
  { reason: 'markdown_link', pattern: /^\[[^\]]*\]\([^)]*\)$/, problem: 'is a link in Markdown' },
  { reason: 'leading_separator', pattern: /^[,;|\u3001\uff0c\uff1b\u060c\u061b]/, problem: 'begins with a separator' },
  { reason: 'list_item', pattern: listMark, problem: 'begins like a list item' },
  { reason: 'list_item', pattern: commentMark, problem: 'begins like a list item or a comment' },
  { reason: 'bullet', pattern: bullets, problem: 'begins with a bullet' },
  {
    reason: 'remark',
    pattern: /^(?:[^\s,;|]+\s+(?:#|\/\/|;)|[^\s,;|.:]+[.:][^\s,;|]*\s+(?:\(|[\u2013\u2014-]+\s))/,
    problem: 'has a comment after it',
  },
  {
    reason: 'html_reference',
    pattern: /^[^/?#]*&(?:#\w+|[a-z]{2,8});/i,
    problem: 'contains an HTML character reference, which is not decoded',
    advice: 'Enter the character itself',
  },
  { reason: 'equals_sign', pattern: /^=/, problem: 'begins with "="', advice: FULL_NAME },
  {
    reason: 'trailing_punctuation',
    pattern: /^[^,;!|\u3001\uff0c\uff1b\u060c\u061b]*[,;!|\u3001\uff0c\uff1b\u060c\u061b]+$/,
    problem: 'ends in punctuation',
    advice: FULL_NAME,
  },
  {
    reason: 'quote_or_bracket',
    pattern: /^["'`<>({]|^\[(?![^\]]*\][:.])|^[^/?#"'`<({[]*["'`>)}\]]$/,
    problem: 'has a quotation mark or bracket at its start or end',
    advice: FULL_NAME,
  },
  {
    reason: 'typographic_quote',
    pattern: /^[\u2018-\u201f\u00ab\u2039\u300c\u300e]+|[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/,
  },
  ...[nameField, ...fieldNames].map(
    pattern => ({ reason: 'field_name', pattern, problem: 'begins with a field name' }) as const,
  ),
  {
    reason: 'setting',
    pattern: /^(?:[\w-]+\s*=\s*\S|[\w-]+:\s(?!\s*[^\s@]+@[^\s@]+$))/,
    problem: 'looks like a setting from a configuration',
    advice: HOSTNAME_IN_IT,
  },

  // A name in another notation.
  {
    reason: 'defanged',
    pattern: /\[\.\]|\[dot\]|\(dot\)|^hxxps?\[?:|^https?\[:\]/i,
    problem: 'is defanged (written so that it is not a link)',
  },
  {
    reason: 'url',
    pattern: scheme,
    problem: 'is a URL, not a hostname',
    advice: FULL_NAME,
  },
  {
    reason: 'at_sign',
    pattern: /^[^/\\?#]*@/,
    problem: 'contains an "@", as in an e-mail address or a URL with a user name',
    advice: FULL_NAME,
  },
  { reason: 'star_character', pattern: /^\\+052\./, problem: 'has the code "\\052" in place of a "*"' },
  {
    reason: 'regular_expression',
    pattern: /\\\./,
    problem: 'has a backslash before a dot, as in a regular expression',
  },
  { reason: 'port', pattern: /^[\d.]+#\d+$/, problem: 'contains a port after a "#"' },
  { reason: 'path', pattern: /^[\\/](?![\\/])/, problem: 'begins with a slash, like a path', advice: FULL_NAME },
  // A backslash after a name without a dot is part of an account name, and does not begin a path: `WORKGROUP\SERVER`.
  {
    reason: 'path',
    pattern: /^[^?#\\]*\/|^\\\\|^[a-z]:\\|^[^?#\\/.]*\.[^?#\\/]*\\/i,
    problem: 'contains a path',
    advice: FULL_NAME,
  },
  { reason: 'query', pattern: /^[^#?\s]+\?/, problem: 'contains a query' },
  { reason: 'fragment', pattern: /^[^#?\s]+#/, problem: 'contains a fragment' },
  {
    reason: 'address_with_dot',
    pattern: /^\[?[0-9a-f]*:[0-9a-f:]*\]?\.$/i,
    problem: 'is an IPv6 address with a dot after it; only names may end in a dot',
  },
  {
    reason: 'port',
    pattern: /^(?:[^:]*|\[[^\]]*\]):\s*(?:\d+|\*|https?)$/i,
    problem: 'contains a port',
  },
  { reason: 'port', pattern: /^[^:.]+\.[^:]+::\d+$/, problem: 'contains a port after two colons' },
  { reason: 'trailing_colon', pattern: /^[^:]*:$/, problem: 'ends in a colon' },
  {
    reason: 'not_an_ipv6_address',
    pattern: /^(?=.*:.*:)[0-9a-f.:%[\]]+$/i,
    problem: 'contains colons and is not an IPv6 address',
    source: 'RFC 4291, section 2.2',
  },

  // Typing mistakes.
  {
    reason: 'space_beside_dot',
    pattern: /\s\.|\.\s/,
    problem: 'contains a space next to a dot',
    advice: WITHOUT_SPACES,
  },
  // In a row of a table, later columns may contain spaces.
  {
    reason: 'separator',
    pattern: /^[^\s,;|]+[,;|\t]\S/,
    problem: 'contains a separator, as between the columns of a table',
    advice: 'Enter one hostname, without separators',
  },
  { reason: 'space', pattern: /\s/, problem: 'contains a space', advice: WITHOUT_SPACES },
  { reason: 'star_character', pattern: /^[\u204e\u2217\u2731\ufe61\uff0a]/ },
  { reason: 'wildcard_alone', pattern: /^\*$/, problem: 'is a wildcard without a name', advice: WILDCARD },
  {
    reason: 'misplaced_star',
    pattern: /\*/,
    problem: 'contains a "*" that is not the whole first label',
    advice: WILDCARD,
  },
  {
    reason: 'record_name',
    pattern: /(?:^|\.)_/,
    problem: 'has a label that begins with an underscore, like the names of DNS records',
    source: 'RFC 8552',
    advice: 'Enter the hostname that the record is about',
  },
  {
    reason: 'underscore',
    pattern: /_/,
    problem: 'contains an underscore, which is allowed in DNS names but not in hostnames',
    source: 'RFC 1123, section 2.1',
  },
  { reason: 'percent_sign', pattern: /%/, problem: 'contains a "%"; percent-encoding is not decoded' },
  {
    reason: 'empty_label',
    pattern: /^(?!.*[{}])(?:\.|.*\.\.|.*\.$|$)/s,
    problem: 'has an empty label',
    advice: 'Enter the full name',
  },
  { reason: 'dot_character', pattern: /[\u2024\ufe52]/ },
  { reason: 'typographic_dash', pattern: /[\u2012-\u2014\u2212]/ },
  { reason: 'typographic_dash', pattern: /[\u2010\u2011]/ },
]

function isShortened(text: string): boolean {
  const [host = ''] = /^[^\s/\\?#"'<(]*/.exec(text) ?? []
  return (/[\u2025\u2026\u22ef]|\.{3}/.test(host) || (host === text && host.endsWith('..'))) && /[^.]/.test(host)
}

/** An address and names, separated by white space, perhaps with a comment. A single word may also be a remark. */
function isHostsFileLine(text: string): boolean {
  const [first = '', ...names] = text.replace(/#.*/s, '').trim().split(/\s+/)
  const isNumber = /^(?:\d+\.|[\da-f]*:)/i.test(first)
  const address = isNumber ? (readIPv4(first) ?? readIPv6(first.toLowerCase())) : null
  if (address === null || !names.every(name => /^[a-z\d][\w.-]*$/i.test(name))) return false
  return address.reserved !== null || names.some(name => name.includes('.') && !/\d$/.test(name))
}
