import { endsInNumber, readIPv4, readIPv6 } from '../address.ts'
import { isLetterOrDigit } from '../idna/characters.ts'
import { dots, toALabels } from '../idna/labels.ts'
import { isInPublicDns, readSuffix } from '../public-suffix.ts'
import type { HostnameReason } from './mistake.ts'
import { isZoneFileLine } from './zone-file-line.ts'

/** A kind of mistake: how to recognize it, its description, and what the sender meant, if that is certain. */
export interface MistakeKind {
  readonly reason: HostnameReason
  readonly pattern: Pick<RegExp, 'test'> & Partial<Pick<RegExp, 'exec'>>
  /** By default, the message names the first character beyond ASCII that the pattern finds. */
  readonly problem?: string
  /** The document with the rule that the input breaks. */
  readonly source?: string
  /** What to do if no suggestion is certain: a sentence without its full stop. */
  readonly advice?: string
  /**
   * Returns the hostname that the sender meant. A repair only removes what cannot belong to a name, or spells a
   * character as it is spelled in a name. It never joins two things, never widens, and never drops a label.
   *
   * @param text The faulty input; for a wildcard, the part after `*.`.
   */
  readonly repair?: (text: string, isWildcard: boolean) => string | undefined
  /** Whether the repair is a guess, which a person must confirm. */
  readonly isGuess?: boolean
}

const NAMES_OF_LINE = 'Enter only its names, each as a separate entry'

const remove = (part: RegExp) => (text: string) => text.replace(part, '')

/** Returns the part of a string that the first group of a pattern matches. */
const find = (pattern: RegExp) => (text: string) => pattern.exec(text)?.[1]

const adBlockerRule = /^(?:@@)?\|\|([^|^$/]+)\^?(?:\$.*)?$/
const jsonObject = /^\{\s*"[^"]*"\s*:\s*"([^"]*)"\s*\}$/

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
  },
  {
    reason: 'remark',
    pattern: /^(?:\d+\.\d+\.\d+\.\d+|[\da-f]*:[\da-f:]*:[\da-f]*)\s+(?!(?:and|or|to)$)[a-z][\w-]*$/i,
    problem: 'has a comment after it',
    repair: remove(/\s.*/s),
  },
  {
    reason: 'zone_file_line',
    pattern: { test: isZoneFileLine },
    problem: 'is a line of a zone file',
    advice: NAMES_OF_LINE,
  },
  {
    reason: 'ad_blocker_rule',
    pattern: adBlockerRule,
    problem: 'is a rule from the filter list of an ad blocker',
    repair: find(adBlockerRule),
  },
  {
    reason: 'command',
    pattern: /^(?:curl|wget)\s+(?:-\S+\s+)*(?=https?:\/\/\S+$)/,
    problem: 'is a command with a URL',
    repair: remove(/^.*\s/s),
  },
  {
    reason: 'json_object',
    pattern: /^\{\s*"[^"]*"\s*:.*\}$/s,
    problem: 'is a JSON object',
    advice: 'Enter only the hostname in it',
    repair: find(jsonObject),
  },
  {
    reason: 'written_object',
    pattern: /^\[object \w+\]$/,
    problem: 'is what JavaScript writes for an object',
    advice: 'Enter the hostname in it',
  },
]

/**
 * A scheme and its slashes, as in URLs or as people mistype them: `https://`, `jdbc:mysql://`, `//`, `http:/`,
 * `https//:`, `http(s)://`, `://`.
 */
const scheme =
  /^(?:(?:[a-z*][a-z0-9+-]*[:\uff1a])+[\\/]{2,}|:?\/{2,}|http\(s\):[\\/]{2,}|https?(?:[:;][\\/]*|[\\/]+:?[\\/]*))/i

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
    repair: remove(/[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/g),
  },
  // Joiners shape the letters of some scripts. Among ASCII characters, joiners do nothing, so they are removed.
  {
    reason: 'invisible_character',
    pattern: /^[\0-\x7f]*[\u200c\u200d][\0-\x7f\u200c\u200d]*$/,
    repair: remove(/[\u200c\u200d]/g),
  },

  // Punctuation around a name, from lists, configuration files, spreadsheets and e-mail.
  {
    reason: 'markdown_link',
    pattern: /^\[[^\]]*\]\([^)]*\)$/,
    problem: 'is a link in Markdown',
    repair: undoMarkdownLink,
  },
  {
    reason: 'list_item',
    pattern: /^(?:[-+*]|#+|[0-9]+[.)])\s+(?![\s.])/,
    problem: 'begins like a list item or a comment',
    // After `*.`, the mark may be a label.
    repair: (text, isWildcard) => (isWildcard ? undefined : text.replace(/^(?:[-+*]|#+|[0-9]+[.)])\s+(?![\s.])/, '')),
  },
  {
    reason: 'bullet',
    pattern: /^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]+\s*/,
    problem: 'begins with a bullet',
    repair: remove(/^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]+\s*/),
  },
  {
    reason: 'remark',
    pattern: /^[^\s,;|]+\s+(?:#|\/\/|[;(\u2013\u2014-])/,
    problem: 'has a comment after it',
    repair: remove(/\s.*/s),
  },
  {
    reason: 'html_reference',
    pattern: /^[^/?#]*&(?:#\d+|#x[\da-f]+|[a-z]{2,8});/i,
    problem: 'contains an HTML character reference, which is not decoded',
  },
  { reason: 'equals_sign', pattern: /^=/, problem: 'begins with "="', repair: remove(/^=/) },
  {
    reason: 'leading_separator',
    pattern: /^[,;|\u3001\uff0c\uff1b]+/,
    problem: 'begins with a separator',
    repair: remove(/^[,;|\u3001\uff0c\uff1b]+/),
  },
  {
    reason: 'trailing_punctuation',
    pattern: /^[^,;!|\u2026\u3001\uff0c\uff1b]*[,;!|\u2026\u3001\uff0c\uff1b]+$/,
    problem: 'ends in punctuation',
    repair: remove(/[,;!|\u2026\u3001\uff0c\uff1b].*/s),
  },
  {
    reason: 'quote_or_bracket',
    pattern: /^["'`<({]|^\[(?![^\]]*\][:.])|^[^/?#"'`<({[]*["'`>)}\]]$/,
    problem: 'has a quotation mark or bracket at its start or end',
    repair: text => stripEnd(text.replace(/^["'`<({[]+/, ''), `"'\`>)}],;`),
  },
  {
    reason: 'typographic_quote',
    pattern: /^[\u2018-\u201f\u00ab\u2039\u300c\u300e]+|[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/,
    repair: remove(/^[\u2018-\u201f\u00ab\u2039\u300c\u300e]+|[\u2018-\u201f\u00bb\u203a\u300d\u300f]$/g),
  },
  {
    reason: 'field_name',
    pattern:
      /^(?:dns|(?:host_?|server_?|c)?name|host|domain|url|site|fqdn|cn|website)\s*[:=](?!\/\/)\s*(?=\D|\d[\w-]*\.)/i,
    problem: 'begins with a field name',
    repair: remove(/^\w+\s*[:=]\s*/),
  },
  // A word before white space may be anything, so only a few words count as field names.
  {
    reason: 'field_name',
    pattern: /^(?:(?:server_?|host_)name\s+(?=\D)|(?:host|domain|url|site|website)\s+(?=[a-z]+:\/\/))/i,
    problem: 'begins with a field name',
    repair: remove(/^\w+\s+/),
  },

  {
    reason: 'setting',
    pattern: /^(?:[\w-]+\s*=\s*\S|[\w-]+:\s)/,
    problem: 'looks like a setting from a configuration',
    advice: 'Enter only the hostname in it',
  },

  // A name in another notation.
  {
    reason: 'defanged',
    pattern: /\[\.\]|\(\.\)|\[dot\]|\(dot\)|^hxxps?\[?:|^https?\[:\]/i,
    problem: 'is defanged (written so that it is not a link)',
    repair: text => text.replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)/gi, '.').replace(/^h(?:xx|tt)p(s?)\[?:\]?/i, 'http$1:'),
  },
  { reason: 'url', pattern: scheme, problem: 'is a URL, not a hostname', repair: undoUrl },
  {
    reason: 'at_sign',
    pattern: /^[^/\\?#]*@/,
    problem: 'contains an "@", as in an e-mail address or a URL with a user name',
    repair: text => dropUserName(dropPath(text))?.replace(/>.*|:[^0-9].*/s, ''),
    isGuess: true,
  },
  {
    reason: 'star_character',
    pattern: /^\\+052\./,
    problem: 'has the code "\\052" in place of a "*"',
    repair: text => text.replace(/^\\+052/, '*'),
  },
  {
    reason: 'regular_expression',
    pattern: /\\\./,
    problem: 'has a backslash before a dot, as in a regular expression',
    repair: text => (/[^\\]\./.test(text) ? undefined : text.replace(/\\\./g, '.').replace(/^\^|\$$/g, '')),
  },
  { reason: 'port', pattern: /^[\d.]+#\d+$/, problem: 'contains a port after a "#"', repair: remove(/#.*/s) },
  // A backslash after a name without a dot is part of an account name, and does not begin a path: `WORKGROUP\SERVER`.
  {
    reason: 'path',
    pattern: /^[^?#\\]*\/|^\\\\|^[a-z]:\\|^[^?#\\/.]*\.[^?#\\/]*\\/i,
    problem: 'contains a path',
    repair: text => dropPath(text.replace(/^[\\/]+/, '')),
  },
  { reason: 'query', pattern: /^[^#?\s]+\?/, problem: 'contains a query', repair: dropPath },
  { reason: 'fragment', pattern: /^[^#?\s]+#/, problem: 'contains a fragment', repair: dropPath },
  {
    reason: 'address_with_dot',
    pattern: /^\[?[0-9a-f]*:[0-9a-f:]*\]?\.$/i,
    problem: 'is an IPv6 address with a dot after it; only names may end in a dot',
    repair: remove(/\.$/),
  },
  {
    reason: 'port',
    pattern: /^(?:[^:]*|\[[^\]]*\]):\s*(?:\d+|\*|https?|ssh|s?ftp|smtps?|imaps?|pop3s?|ldaps?)$/i,
    problem: 'contains a port',
    repair: remove(/:[^:]*$/),
  },
  {
    reason: 'port',
    pattern: /^[^:.]+\.[^:]+::\d+$/,
    problem: 'contains a port after two colons',
    repair: remove(/:.*/s),
  },
  { reason: 'trailing_colon', pattern: /^[^:]*:$/, problem: 'ends in a colon', repair: remove(/:$/) },
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
    repair: joinAtDots,
  },
  // In a row of a table, later columns may contain spaces.
  {
    reason: 'separator',
    pattern: /^[^\s,;|]+[,;|\t]\S|^[^\s,;|]*[,;|]\S*$/,
    problem: 'contains a separator, as between the columns of a table',
  },
  { reason: 'space', pattern: /\s/, problem: 'contains a space' },
  {
    reason: 'star_character',
    pattern: /^[\u204e\u2217\u2731\ufe61\uff0a](?=\.)/,
    repair: text => `*${text.slice(1)}`,
  },
  {
    reason: 'wildcard_alone',
    pattern: /^\*$/,
    problem: 'is a wildcard without a name',
    advice: 'Enter one such as "*.example.com"',
  },
  {
    reason: 'misplaced_star',
    pattern: /\*/,
    problem: 'contains a "*" that is not the whole first label',
    repair: separateStar,
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
    repair: text => text.split(dots).filter(Boolean).join('.'),
  },
  { reason: 'dot_character', pattern: /[\u2024\ufe52]/, repair: text => text.replace(/[\u2024\ufe52]/g, '.') },
  { reason: 'typographic_dash', pattern: /[\u2010-\u2014\u2212]/, repair: undoDashes },
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

/**
 * Removes white space next to dots. Suggests nothing where two texts meet, as in `Hello. World.com` or
 * `Inc. example.com`: before the space, only `www.` and `*.` certainly belong to the name after it; after the space,
 * only a top-level domain certainly belongs to the name before it.
 */
function joinAtDots(text: string): string | undefined {
  const parts = text.split(/\s+/)
  const belong = (part: string, next: string) =>
    (next.startsWith('.') && !part.endsWith('.')) ||
    /^(?:\.|www\.|\*\.)$/i.test(part) ||
    (part.endsWith('.') && /^[a-z]+$/.test(next))
  return parts.every((part, index) => index === 0 || belong(parts[index - 1] ?? '', part)) ? parts.join('') : undefined
}

function stripEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] as string)) end -= 1
  return text.slice(0, end)
}

/**
 * `*example.com`, `**.example.com`. Suggests nothing for a star inside a label or after another label, or for a star
 * before a name such as `cdn.example.com`, because `site-cdn.example.com` may have been meant.
 */
function separateStar(text: string): string | undefined {
  if (/^\.+\*\.[^*]+$/.test(text)) return text.replace(/^\.+/, '')
  const [, base] = /^\*(?:\*\.)?([^*._-][^*]*)$/.exec(text) ?? []
  const name = base === undefined ? undefined : toALabels(base.replace(/\.$/, ''))
  if (typeof name !== 'string') return undefined
  return text.startsWith('**.') || readSuffix(name).registrableDomain === name ? `*.${base}` : undefined
}

/** An address and names, separated by white space, perhaps with a comment. A single word may also be a remark. */
function isHostsFileLine(text: string): boolean {
  const [first = '', ...names] = text.replace(/#.*/s, '').trim().split(/\s+/)
  const address = /[.:]/.test(first) ? (readIPv4(first) ?? readIPv6(first.toLowerCase())) : null
  if (address === null || !names.every(name => /^[a-z\d][\w.-]*$/i.test(name))) return false
  const isName = (name: string) => /localhost$/i.test(name) || (name.includes('.') && !/\d$/.test(name))
  return names.some(isName) || (names.length === 1 && address.reserved !== null)
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
