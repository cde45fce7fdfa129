import { endsInNumber, readIPv4, readIPv6 } from '../address.ts'
import { isLetterOrDigit } from '../idna/characters.ts'
import { dots, toALabels } from '../idna/labels.ts'
import { isInPublicDns } from '../public-suffix.ts'

/**
 * A part of a text.
 *
 * - `host`: a name or an address, in any spelling and with any fault; after a scheme or a user, also a single label.
 * - `network`: the `/24` of `8.8.8.0/24`.
 * - `user`: what is before the host in an e-mail address or a URL, with the "@".
 * - `comment`: the sign before a comment, and all of the comment but its hosts.
 * - `words`: letters, digits and symbols that name no host.
 * - `unclear`: what may name a host, but not in a way that is read here, such as the URL of an app.
 * - `markup`: quotation marks, brackets, bullets, names of fields.
 * - `doubtful`: what a person must confirm: a `#` at the start of a line, a path that is a name itself or has a URL in
 *   it.
 */
export interface Token {
  readonly kind:
    | 'host'
    | 'network'
    | 'user'
    | 'scheme'
    | 'port'
    | 'path'
    | 'comment'
    | 'words'
    | 'unclear'
    | 'separator'
    | 'space'
    | 'markup'
    | 'doubtful'
  readonly text: string
}

/** Patterns, tried in order. */
type Grammar = readonly (readonly [Token['kind'], RegExp])[]

/** What ends a word. */
const marks =
  /[\s,;|\u3001\uff0c\uff1b\u060c\u061b"'`<>(){}[\]\\/?#@:=&\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]/

/** Returns what is before the first match of a pattern. */
const until = (text: string, end: RegExp) => text.slice(0, end.exec(text)?.index)

/**
 * A scheme and its slashes, as in URLs or as people mistype them: `https://`, `jdbc:mysql://`, `//`, `http:/`,
 * `https//:`, `http(s)://`, `://`.
 */
export const scheme =
  /^(?:(?:[a-z*][a-z\d+-]*[:\uff1a]){1,3}[\\/]{2,}|:?\/{2,}|http\(s\):[\\/]{2,}|https?(?:[:;][\\/]*|[\\/]+)(?![\\/.]))/i

/** What is called so may be something else. */
export const nameField = /^name\s*[:=]\s*(?=\D)/i
/** With a sign after it, or in front of white space: `Host: `, `url": "`, `ServerName `. */
export const fieldNames: readonly RegExp[] = [
  /^(?:dns|host_?name|host|domain|url|cn)"?\s*[:=](?!\/\/)\s*(?=\D|\d[\w-]*\.)/i,
  /^(?:(?:server_?|host_)name\s+(?=[^\d\s.])|host\s+(?=[a-z]+:\/\/))/i,
]

const anywhere: Grammar = [
  // Most names and marks: no other pattern finds anything there, so these two save trying them.
  [
    'words',
    /^[\w\u00c0-\u060b\u3040-\ufdff-]+(?:\.[\w\u00c0-\u060b\u3040-\ufdff-]+)+(?=[\s,;|\u3001\uff0c"'()<>\]/]|$)/,
  ],
  ['markup', /^(?:["'`(){}\]>]|\[(?![\da-f]*:))/i],
  ['space', /^\s+/],
  ['separator', /^(?:[,;|\u3001\uff0c\uff1b\u060c\u061b]\s*|(?:and|or)\s+(?![\s.]))/i],
  ...fieldNames.map(pattern => ['markup', pattern] as const),
  ['markup', /^(?:mailto:|[*_]+(?=[a-z]+:\/\/)|<(?:a\s[^<>]*?href\s*=\s*(?=["'])|\/?(?:a|li)>))/i],
  ['scheme', scheme],
  ['user', /^[^\s\\/?#,;|"'<>()]*@/],
  ['host', /^\[?[\da-f]*:[\da-f]*:[\da-f:.]*(?:%[^\s/\]]*)?\]?\.?/i],
  ['unclear', /^[\\/?#]\S*/],
]

/**
 * Marks of lists, and numbers in circles, that may also begin a name, although few names do. Emoji are left out, such
 * as the check mark U+2714, because names that begin with an emoji are in use.
 */
export const symbols = /^[①-⑳⓪-⓿❶-➓■□▷-▻◆◇○●◦★☆☐☒✓✗✘➢➤]+/

/** These, and marks that begin no name. */
export const bullets = /^[·•‣⁃▪①-⑳⓪-⓿❶-➓■□▷-▻◆◇○●◦★☆☐☒✓✗✘➢➤]+\s*/

/** In front of a name. */
export const listMark = /^(?:[-+]|\d+[.)])\s+(?![\s.])/
/** In front of a name, or of a remark. */
export const commentMark = /^(?:\*|#+|\/\/|;)\s+(?![\s.])/
/** With its options. A word before white space and a dot may be the first label: `ping .example.com`. */
export const command = /^(?:curl|wget|ping|dig|nslookup|whois|ssh)\s+(?:-\S+\s+)*(?![\s.])/

/** Before the first letter, host or word. */
const atStart: Grammar = [
  ['doubtful', commentMark],
  ['doubtful', nameField],
  ['scheme', /^\\\\/],
  ['markup', listMark],
  ['markup', bullets],
  ['markup', command],
]

/** After a host or a word. */
const after: Grammar = [
  ['port', /^(?::\s*(?:\d+|\*|https?)(?![\w.-])|::\d+(?![\w:]))/i],
  ['path', /^(?::?\/|[\\?#]|:(?=[^\s:\d]\S*\/))/i],
  ['comment', /^\s+(?:#|\/\/|;|\(|[\u2013\u2014-]+\s)/i],
]

/** Finds the token at the start of a text. */
function read(grammar: Grammar, text: string): Token | undefined {
  for (const [kind, pattern] of grammar) {
    const found = pattern.exec(text)
    if (found !== null) return { kind, text: found[0] }
  }
  return undefined
}

function readWord(text: string): Token {
  const word = until(text, marks)
  return word === '' ? { kind: 'markup', text: text.charAt(0) } : { kind: 'words', text: word }
}

/** Enough for a list of 50 hosts. A text with more is not read to its end. */
const MAX_TOKENS = 100
/** Of several e-mail addresses, no host is meant more than another. */
const MAX_HOSTS_OF_MAIL = 3

/**
 * Reads a text from left to right. Each character is in one token, up to a comment, of which only hosts are read, or up
 * to one of the limits.
 */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = []
  let hasBegun = false
  let isComment = false
  let isMail = false
  let isUnclear = false
  const hosts = new Set<string>()
  /** The last bracket or quotation mark. */
  let opening = ''
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    if (tokens.length === MAX_TOKENS || (isMail && hosts.size > MAX_HOSTS_OF_MAIL))
      return [...tokens, { kind: 'unclear', text: rest }]
    const previous = tokens.at(-1)?.kind
    const isAfter = previous === 'host' || previous === 'words' || previous === 'port' || previous === 'path'
    const found = isAfter ? read(after, rest) : hasBegun ? undefined : read(atStart, rest)
    const token = refine(found ?? read(anywhere, rest) ?? readWord(rest), rest, tokens, opening)
    if (token.kind === 'markup' && token.text.length === 1) opening = token.text
    hasBegun ||= token.kind === 'host' || token.kind === 'words' || /[a-z]/i.test(token.text)
    isComment ||= token.kind === 'comment'
    isMail ||= token.kind === 'user' && previous !== 'scheme'
    if (token.kind === 'host') hosts.add(token.text.toLowerCase())
    tokens.push(isComment && token.kind !== 'host' ? { kind: 'comment', text: token.text } : token)
    at += token.text.length
    isUnclear ||= !isComment && (token.kind === 'words' || token.kind === 'unclear' || token.kind === 'network')
    // Several hosts among words are nothing to suggest, whatever else there is; except in front of an "@".
    if (isUnclear && hosts.size > 1 && !text.includes('@', at)) break
  }
  return tokens
}

/** Decides what a token is by what is before and after it. */
function refine(token: Token, rest: string, before: readonly Token[], opening: string): Token {
  const { kind, text } = token
  const previous = before.at(-1)?.kind
  switch (kind) {
    case 'words':
      return previous === 'scheme' || previous === 'user' || looksLikeName(text) ? { kind: 'host', text } : token
    case 'markup': {
      const [symbol = ''] = symbols.exec(text) ?? []
      if (symbol === '') return token
      if (dots.test(rest.charAt(text.length))) return { kind: 'unclear', text }
      return symbol === text ? { kind: 'doubtful', text } : token
    }
    case 'scheme':
      return readScheme(text, rest.slice(text.length))
    case 'user':
      // The part before an "@" may be the name that the sender meant: `good.com:443@evil.org`.
      return text.slice(0, -1).split('@').some(couldBeHost) ? { kind: 'unclear', text } : token
    case 'path':
      return readPath(rest, before, opening)
    default:
      return token
  }
}

/** What ends a path, and what does so in brackets or single quotation marks. */
const pathEnd = /[\s"\u201d\u00bb\u203a\u300d\u300f]/
const closings: Readonly<Record<string, RegExp>> = { '(': /\)/, '[': /\]/, '<': /[>|]/, '{': /\}/, "'": /'/, '`': /`/ }
/** More separators in a path are not examined: whether a host is behind one of them, a person must say. */
const MAX_SEPARATORS = 20
const separators = /[,;|\u3001\uff0c\uff1b\u060c\u061b]/g

/** Neither a version such as `v2.0` nor an abbreviation such as `e.g.` is a name. */
function looksLikeName(text: string): boolean {
  const labels = text.split(dots)
  if (labels.at(-1) === '') labels.pop()
  const last = labels.at(-1) ?? ''
  return Boolean(labels.at(-2)) && (labels.length > 3 ? last !== '' : /\D./su.test(last))
}

/** The schemes whose URLs name a host. In `android-app://com.example.app`, for instance, there is none. */
const hostSchemes = new Set(
  (
    '* ws wss ftp ftps sftp ssh git ldap ldaps smtp imap mysql mariadb postgres postgresql mongodb mongodb+srv redis ' +
    'rediss amqp amqps mqtt mqtts tcp dns feed'
  ).split(' '),
)
const httpOrSlip = /^(?=.*t)[htps]{3,8}$/

/** Reads a scheme, with the white space after it; or the whole URL, if its scheme may not name a host. */
function readScheme(written: string, rest: string): Token {
  const names = written.toLowerCase().match(/[a-z*][a-z0-9+-]*/g)
  const namesHost = names === null || names.some(name => hostSchemes.has(name) || httpOrSlip.test(name))
  if (!namesHost) return { kind: 'unclear', text: written + /^\S*/.exec(rest)?.[0] }
  // Three slashes: `feed:///example.com`. Only browsers take what follows `https:///` for the host.
  const isEmpty = names !== null && !/^http/i.test(written) && /[\\/]{3}/.test(written)
  return { kind: isEmpty ? 'doubtful' : 'scheme', text: written + /^\s*/.exec(rest)?.[0] }
}

/** Returns whether a user name could be a hostname: a name, an address, or something with a port. */
function couldBeHost(userName: string): boolean {
  if (/:\d*$|[[\]]/.test(userName)) return true
  const labels = userName.split('.').filter(Boolean)
  if (labels.length < 2) return false
  const last = Array.from(labels.at(-1) ?? '')
  const end = last.findIndex(character => character !== '-' && !isLetterOrDigit(character))
  const mapped = toALabels(last.slice(0, end === -1 ? last.length : end).join(''))
  if (userName.includes(':') || typeof mapped !== 'string') return true
  // `john.1985` is a user, and `8.8.8.8` is an address.
  if (endsInNumber(mapped)) return /^[\d.]+$/.test(userName) || readIPv4(userName) !== null
  return isInPublicDns(mapped)
}

/**
 * Reads a path with its query and fragment, up to white space, a quotation mark, the end of the brackets, or a
 * separator before another host: `example.com/,example.org/`.
 */
function readPath(rest: string, before: readonly Token[], opening: string): Token {
  const host = before.at(-1)
  const [prefix] = /^\/(?:\d{1,3}(?:\.\d{1,3}){3}|\d{1,3})(?![\w.-])/.exec(rest) ?? []
  if (prefix !== undefined && isAddress(host?.text ?? '')) return { kind: 'network', text: prefix }
  const longest = until(until(rest, pathEnd), closings[opening] ?? pathEnd)
  const separatorsInIt = Array.from(longest.matchAll(separators))
  if (separatorsInIt.length > MAX_SEPARATORS) return { kind: 'doubtful', text: longest }
  const next = separatorsInIt.find(({ index }) => beginsHost(longest, index))
  const text = longest.slice(0, next?.index)
  // Only SSH separates a path by a colon: `git@github.com:acme/site.git`.
  const isOfSsh = before.at(-2)?.kind === 'user' && before.at(-3)?.kind !== 'scheme' && !text.includes('@')
  if (/^:[^/]/.test(text) && !isOfSsh) return { kind: 'unclear', text }
  // The URL Standard reads a backslash as the start of a path, and RFC 3986 as part of a user: `one.com\\@two.com`.
  if (/^\\[^/?#]*@/.test(text)) return { kind: 'unclear', text }
  // The class of an app: `com.example.app/.MainActivity`.
  if (/^\/\.?(?:\w+\.)*[A-Z]\w*$/.test(text) && text.includes('.')) return { kind: 'unclear', text }
  // A URL of a service that leads to another URL, or is about it.
  if (/:\/\/|%3a%2f%2f/i.test(text)) return { kind: 'doubtful', text }
  if (before.some(({ kind }) => kind === 'scheme')) return { kind: 'path', text }
  // An account, or a regular expression: `WORKGROUP\\SERVER`, `good.com\\.evil.org`.
  if (text.startsWith('\\') && (host?.kind === 'words' || text[1] === '.')) return { kind: 'unclear', text }
  return { kind: /^[\\/#](?!@)/.test(text) && namesPublic(text.slice(1)) ? 'doubtful' : 'path', text }
}

export const isAddress = (text: string) =>
  (/^[\d.]+$/.test(text) && readIPv4(text) !== null) || (text.includes(':') && readIPv6(text.toLowerCase()) !== null)

/** Returns whether a separator in a path is before another host. In a query, only a URL is one. */
function beginsHost(path: string, at: number): boolean {
  const next = path.slice(at + 1)
  return /^[^\s,;|/?#]*:\/\//.test(next) || (!/[?#]/.test(path.slice(0, at)) && namesPublic(next))
}

/** Returns whether the first segment of a path has a name whose top-level domain exists, and not just `index.html`. */
function namesPublic(path: string): boolean {
  const names = until(path, /[\s,;|/?#]/).split(marks)
  return names.some(name => {
    const topLevel =
      name
        .replace(/(?<![.*_~])[.*_~]+$/, '')
        .split(dots)
        .at(-1) ?? ''
    const mapped = looksLikeName(name) || name.startsWith('.') ? toALabels(topLevel) : undefined
    return typeof mapped === 'string' && isInPublicDns(mapped)
  })
}
