import { endsInNumber, readIPv4, readIPv6 } from '../address.ts'
import { isLetterOrDigit } from '../idna/characters.ts'
import { dots, toALabels } from '../idna/labels.ts'
import { isInPublicDns, readSuffix } from '../public-suffix.ts'
import { isMailProvider } from './mail-providers.ts'
import { FULL_NAME, type HostnameReason } from './mistake.ts'
import { isZoneFileLine } from './zone-file-line.ts'

/** A kind of mistake: how to recognize it, its description, and what the sender meant, if that is clear. */
export interface MistakeKind {
  readonly reason: HostnameReason
  readonly pattern: Pick<RegExp, 'test'> & Partial<Pick<RegExp, 'exec'>>
  /** By default, the message names the first character beyond ASCII that the pattern finds. */
  readonly problem?: string
  /** The document with the rule that the input breaks. */
  readonly source?: string
  /** What to do if there is no suggestion: a sentence without its full stop. */
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
const HOSTNAME_IN_IT = 'Enter only the hostname in it'

const WILDCARD = 'A wildcard is written like "*.example.com"'
const WITHOUT_SPACES = 'Enter one hostname, without spaces'

const remove = (part: RegExp) => (text: string) => text.replace(part, '')

/** For a row that removes what it finds. */
const removed = (pattern: RegExp) => ({ pattern, repair: remove(pattern) })

/** Returns the part of a string that the first group of a pattern matches. */
const find = (pattern: RegExp) => (text: string) => pattern.exec(text)?.[1]

const adBlockerRule = /^(?:@@)?\|\|([^|^$/]+)\^?(?:\$.*)?$/
const jsonObject = /^\{\s*"(?:host_?(?:name)?|server_?name|domain|fqdn|url|site|website)"\s*:\s*"([^"]*)"\s*\}$/i
const listItem = /^(?:[-+]|[0-9]+[.)])\s+(?![\s.])/
const command = /^(?:curl|wget|ping|dig|nslookup|traceroute|tracert|mtr|whois|telnet|ssh)\s+(?:-\S+\s+)*/

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
    isGuess: true,
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
    isGuess: true,
  },
  {
    reason: 'command',
    pattern: command,
    problem: 'looks like a command',
    advice: HOSTNAME_IN_IT,
    repair: text => (/^[^\s.:]*[.:]\S*$/.test(text.replace(command, '')) ? text.replace(command, '') : undefined),
  },
  {
    reason: 'json_object',
    pattern: /^\{\s*"[^"]*"\s*:.*\}$/s,
    problem: 'is a JSON object',
    advice: FULL_NAME,
    repair: find(jsonObject),
  },
  {
    reason: 'written_object',
    pattern: /^\[object \w+\]$/,
    problem: 'is what JavaScript writes for an object',
    advice: FULL_NAME,
  },
]

/**
 * A scheme and its slashes, as in URLs or as people mistype them: `https://`, `jdbc:mysql://`, `//`, `http:/`,
 * `https//:`, `http(s)://`, `://`.
 */
const scheme =
  /^(?:(?:[a-z*][a-z0-9+-]*[:\uff1a])+[\\/]{2,}|:?\/{2,}|http\(s\):[\\/]{2,}|https?(?:[:;][\\/]*|[\\/]+:?[\\/]*))/i

/** The schemes whose URLs name a host. In `android-app://com.example.app`, for instance, there is none. */
const hostSchemes = new Set(
  (
    '* ws wss ftp ftps sftp ssh scp git svn rsync ldap ldaps smtp smtps imap imaps pop3 pop3s irc ircs rtsp rtmp ' +
    'sip sips mysql mariadb postgres postgresql sqlserver mongodb mongodb+srv redis rediss amqp amqps mqtt mqtts ' +
    'nats tcp udp tls ssl dns quic grpc grpcs h2 h2c telnet vnc rdp smb nfs dav davs webdav feed stun turn'
  ).split(' '),
)
const httpOrSlip = /^(?=.*t)[htps]{3,8}$/

/**
 * Mistakes in pasted text, the most specific first. The first pattern that matches determines the mistake. Each row has
 * test cases in `test/vectors/pasted-names.json`. Each row undoes one kind of mistake, and then the rest of the input
 * is examined: a URL in quotes before a comma needs three rows. Every suggestion is a part of the input, in the same or
 * in another spelling. A suggestion is certain if each row on the way to it only undoes a notation.
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

  // Browsers, mail programs and tables shorten names to make them fit.
  {
    reason: 'shortened',
    pattern: { test: isShortened },
    problem: 'looks shortened',
    advice: 'Enter the full name',
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
    pattern: listItem,
    problem: 'begins like a list item',
    // After `*.`, the mark may be a label.
    repair: (text, isWildcard) => (isWildcard ? undefined : text.replace(listItem, '')),
  },
  // A line that is commented out may be meant or not, and a star may be meant for a wildcard.
  {
    reason: 'list_item',
    pattern: /^(?:\*|#+)\s+(?![\s.])/,
    problem: 'begins like a list item or a comment',
    repair: (text, isWildcard) => (isWildcard ? undefined : text.replace(/^\S+\s+/, '')),
    isGuess: true,
  },
  {
    reason: 'bullet',
    ...removed(/^[\u00b7\u2022\u2023\u2043\u25cf\u25e6\u25aa]+\s*/),
    problem: 'begins with a bullet',
  },
  {
    reason: 'remark',
    pattern: /^(?:[^\s,;|]+\s+(?:#|\/\/|;)|[^\s,;|.:]+[.:][^\s,;|]*\s+(?:\(|[\u2013\u2014-]+\s))/,
    problem: 'has a comment after it',
    repair: remove(/\s.*/s),
  },
  {
    reason: 'html_reference',
    pattern: /^[^/?#]*&(?:#\d+|#x[\da-f]+|[a-z]{2,8});/i,
    problem: 'contains an HTML character reference, which is not decoded',
    advice: 'Enter the character itself',
  },
  { reason: 'equals_sign', ...removed(/^=/), problem: 'begins with "="' },
  {
    reason: 'leading_separator',
    ...removed(/^[,;|\u3001\uff0c\uff1b]+/),
    problem: 'begins with a separator',
  },
  {
    reason: 'trailing_punctuation',
    pattern: /^[^,;!|\u3001\uff0c\uff1b]*[,;!|\u3001\uff0c\uff1b]+$/,
    problem: 'ends in punctuation',
    repair: remove(/[,;!|\u3001\uff0c\uff1b].*/s),
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
      /^(?:dns|(?:host_?|server_?|c)name|host|domain|url|site|fqdn|cn|website)\s*[:=](?!\/\/)\s*(?=\D|\d[\w-]*\.)/i,
    problem: 'begins with a field name',
    repair: remove(/^\w+\s*[:=]\s*/),
  },
  // Files and programs have names, too: `name: deploy.sh`.
  {
    reason: 'field_name',
    pattern: /^name\s*[:=]\s*(?=\D|\d[\w-]*\.)/i,
    problem: 'begins with a field name',
    repair: remove(/^\w+\s*[:=]\s*/),
    isGuess: true,
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
    pattern: /^(?:[\w-]+\s*=\s*\S|[\w-]+:\s(?!\s*[^\s@]+@[^\s@]+$))/,
    problem: 'looks like a setting from a configuration',
    advice: HOSTNAME_IN_IT,
  },

  // A name in another notation.
  {
    reason: 'defanged',
    pattern: /\[\.\]|\(\.\)|\[dot\]|\(dot\)|^hxxps?\[?:|^https?\[:\]/i,
    problem: 'is defanged (written so that it is not a link)',
    repair: text => text.replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)/gi, '.').replace(/^h(?:xx|tt)p(s?)\[?:\]?/i, 'http$1:'),
  },
  { reason: 'url', pattern: scheme, problem: 'is a URL, not a hostname', repair: undoUrl, advice: FULL_NAME },
  {
    reason: 'at_sign',
    pattern: /^[^/\\?#]*@/,
    problem: 'contains an "@", as in an e-mail address or a URL with a user name',
    advice: FULL_NAME,
    repair: text => dropUserName(dropPath(text.replace(/^[\w-]+:\s+/, '')))?.replace(/>.*|:[^0-9].*/s, ''),
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
    pattern: /^[\\/](?![\\/])/,
    problem: 'begins with a slash, like a path',
    advice: FULL_NAME,
  },
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
    advice: WITHOUT_SPACES,
    repair: joinAtDots,
    isGuess: true,
  },
  // In a row of a table, later columns may contain spaces.
  {
    reason: 'separator',
    pattern: /^[^\s,;|]+[,;|\t]\S|^[^\s,;|]*[,;|]\S*$/,
    problem: 'contains a separator, as between the columns of a table',
    advice: 'Enter one hostname, without separators',
  },
  { reason: 'space', pattern: /\s/, problem: 'contains a space', advice: WITHOUT_SPACES },
  {
    reason: 'star_character',
    pattern: /^[\u204e\u2217\u2731\ufe61\uff0a](?=\.)/,
    repair: text => `*${text.slice(1)}`,
  },
  {
    reason: 'wildcard_alone',
    pattern: /^\*$/,
    problem: 'is a wildcard without a name',
    advice: WILDCARD,
  },
  {
    reason: 'misplaced_star',
    pattern: /\*/,
    problem: 'contains a "*" that is not the whole first label',
    advice: WILDCARD,
    repair: separateStar,
    isGuess: true,
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
    repair: dropFirstDot,
    isGuess: true,
  },
  { reason: 'dot_character', pattern: /[\u2024\ufe52]/, repair: text => text.replace(/[\u2024\ufe52]/g, '.') },
  // The other two, hyphens that fonts and PDF files distinguish, stand for nothing else.
  { reason: 'typographic_dash', pattern: /[\u2012-\u2014\u2212]/, repair: undoDashes, isGuess: true },
  { reason: 'typographic_dash', pattern: /[\u2010\u2011]/, repair: undoDashes },
]

function isShortened(text: string): boolean {
  const [host = ''] = /^[^\s/\\?#"'<(]*/.exec(text) ?? []
  return (/[\u2025\u2026\u22ef]|\.{3}/.test(host) || (host === text && host.endsWith('..'))) && /[^.]/.test(host)
}

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
 * Removes the scheme. If the rest is another URL, that URL is examined next: `https://https://example.com`. Suggests
 * nothing for a scheme whose URLs may not name a host.
 */
function undoUrl(text: string): string | undefined {
  const [written = ''] = scheme.exec(text) ?? []
  const names = written.toLowerCase().match(/[a-z*][a-z0-9+-]*/g)
  if (names !== null && !names.some(name => hostSchemes.has(name) || httpOrSlip.test(name))) return undefined
  const rest = text.slice(written.length)
  return scheme.test(rest) ? rest : dropUserName(dropPath(rest))
}

/**
 * Suggests nothing if the part before an "@" may be the name that the sender meant: `good.com:443@evil.org`. Nor if the
 * part after it belongs to a service whose users are many: the sender does not mean `gmail.com`.
 */
function dropUserName(text: string): string | undefined {
  const parts = text.split('@')
  const last = parts.pop() ?? ''
  const isShared = parts.length > 0 && isMailProvider(last.replace(/[>:].*/s, ''))
  return isShared || parts.some(couldBeMeant) ? undefined : last
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
 * Removes white space next to dots. Suggests nothing where two texts meet, as in `Hello. World.com`, `No. one` or
 * `vs. us`: before the space, only `www.` and `*.` belong to the name after it; after the space, only some top-level
 * domains belong to the word before it.
 */
function joinAtDots(text: string): string | undefined {
  const parts = text.split(/\s+/)
  const belong = (part: string, next: string) =>
    (next.startsWith('.') && !part.endsWith('.')) ||
    /^(?:\.|www\.|\*\.)$/i.test(part) ||
    (part.endsWith('.') && endsName(next))
  return parts.every((part, index) => index === 0 || belong(parts[index - 1] ?? '', part)) ? parts.join('') : undefined
}

/** Codes of countries that are words of English. */
const words = new Set('am as at be by do id in is it la me my no so st to us'.split(' '))

/** Returns whether a word after a dot and a space ends a name: `com`, `net`, `org`, or the code of a country. */
const endsName = (word: string) => /^(?:com|net|org)$/.test(word) || (/^[a-z]{2}$/.test(word) && !words.has(word))

/** `.example.com`. Suggests nothing if a label is missing: `www..com`, `example.co..`. */
function dropFirstDot(text: string, isWildcard: boolean): string | undefined {
  const labels = text.split(dots)
  if (!isWildcard && labels[0] === '') labels.shift()
  return labels.includes('') ? undefined : labels.join('.')
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
 * stands for a hyphen. Suggests nothing for `xn–`, where a word processor has turned two hyphens into one dash, and
 * nothing for a dash between two names: `example.com–example.org`.
 */
function undoDashes(text: string): string | undefined {
  if (/(?:^|\.)xn[\u2010-\u2014\u2212]/i.test(text)) return undefined
  const [first = '', ...others] = text.split(/[\u2010-\u2014\u2212]/)
  const name = toALabels(first.replace(/^www\./i, ''))
  const isName = typeof name === 'string' && name.includes('.') && readSuffix(name).isInPublicDns
  if (isName && others.join().includes('.')) return undefined
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
