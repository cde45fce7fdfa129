import { isLetterOrDigit } from '../idna/characters.ts'
import { toALabels } from '../idna/labels.ts'
import { isPlainName } from '../ldh-name.ts'
import { isInPublicDns, readSuffix, specialUseTopLevels } from '../public-suffix.ts'
import { isMailProvider } from './mail-providers.ts'
import { isAddress, readTokens, type Token } from './tokens.ts'

/** A text, and whether a person must confirm that it means the same as what was sent. */
export interface Spelling {
  readonly text: string
  readonly isGuess: boolean
}

/** What a text names. */
export interface Meant {
  /** The hosts, each once, in order. They may be invalid. */
  readonly hosts: readonly Spelling[]
  /** Whether nothing else in the text could name a host. */
  readonly isClear: boolean
  /** Whether the text is a list of several hosts, and not a link whose text names another host. */
  readonly isList: boolean
  /** Whether the text has the prefix of a network, such as `8.8.8.0/24`. */
  readonly hasNetwork: boolean
}

/** The text of a link and its address: in Markdown, Slack, HTML, a spreadsheet. */
const link = /^\[[^\]]*\]\([^)]*\)$|^<[^<>|]+\|[^<>]*>$|^<a\s.*<\/a>$|^=\s*hyperlink\s*\(.*\)$/is

/**
 * Reads which hosts a text names. Words beside a host may be a part of it that was torn off, `exam ple.com`, so they
 * make a text unclear: unless they are a comment, the text of a link, before an e-mail address, or
 * beside an IP address or in another column of a table.
 */
export function readMeant(sent: string): Meant {
  const { text, isGuess } = undoNotation(sent)
  const tokens = withoutFiles(readTokens(text))
  const kinds = new Set(tokens.map(({ kind }) => kind))
  const isUser = ({ kind }: Token, index: number) => kind === 'user' && tokens[index - 1]?.kind !== 'scheme'
  const isMail = kinds.has('user') && tokens.some(isUser)
  const isLink = link.test(text)
  const words = tokens.filter(({ kind }) => kind === 'words')
  const named = tokens.filter(({ kind }) => kind === 'host')
  const [first] = named
  const hasWordsBeside = words.length > 0 && named.length > 0 && !isLink
  const lastOf = (last: Token['kind']) => tokens.findLastIndex(({ kind }) => kind === last)
  const mayHaveWords =
    (isMail && lastOf('words') < lastOf('user')) ||
    /^\|.*\|$/s.test(text) ||
    (isAddress(first?.text ?? '') && !kinds.has('separator') && !kinds.has('markup'))
  const isDoubtful = isGuess || isMail || kinds.has('doubtful') || hasWordsBeside
  const hosts = new Map<string, Spelling>()
  for (const host of named.length === 0 && words.length === 1 ? words : named) {
    const { text, isGuess } = spell(host.text)
    hosts.set(text.toLowerCase().replace(/\.$/, ''), { text, isGuess: isGuess || isDoubtful })
  }
  const isShared = kinds.has('user') && named.some(({ text }) => isMailProvider(text))
  return {
    hosts: [...hosts.values()],
    isClear: !kinds.has('network') && !kinds.has('unclear') && (!hasWordsBeside || mayHaveWords) && !isShared,
    isList: hosts.size > 1 && !isMail && !isLink,
    hasNetwork: kinds.has('network'),
  }
}

/**
 * Beside other hosts, takes what has no known top-level domain for words, such as the name of a file. After a scheme or
 * a user, it is the beginning of a host that was torn apart: `https://exa mple.com`.
 */
function withoutFiles(tokens: readonly Token[]): readonly Token[] {
  const hosts = tokens.filter(({ kind }) => kind === 'host')
  const topLevels = [...new Set(hosts.map(({ text }) => lastWordOf(text)))]
  const isUnknown = (label = '') => label !== '' && !specialUseTopLevels.has(label) && !isInPublicDns(label)
  const unknown = new Set(topLevels.filter(isUnknown))
  if (unknown.size === 0 || unknown.size === topLevels.length) return tokens
  let isComment = false
  return tokens.map((token, index) => {
    isComment ||= token.kind === 'comment'
    if (token.kind !== 'host' || !unknown.has(lastWordOf(token.text))) return token
    const previous = tokens[index - 1]?.kind
    const isTorn = previous === 'scheme' || previous === 'user'
    return { kind: isTorn ? 'unclear' : isComment ? 'comment' : 'words', text: token.text }
  })
}

/** Returns the last label if it could be a top-level label in ASCII. */
const lastWordOf = (name: string) => /(?<=^|\.)[a-z][a-z\d]*(?=\.?$)/.exec(name.toLowerCase())?.[0]

const invisible = /[\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u2069\ufeff]/g
export const adBlockerRule = /^(?:@@)?\|\|([^|^$/]+)\^?(?:\$.*)?$/

/** Undoes what people and programs do to a whole text. */
function undoNotation(sent: string): Spelling {
  let text = sent.replace(invisible, '')
  if (/^[\0-\x7f\u200c\u200d]*$/.test(text)) text = text.replace(/[\u200c\u200d]/g, '')
  text = text.replace(/\[\.\]|\[dot\]|\(dot\)|[\u2024\ufe52]/gi, '.').replace(/^h(?:xx|tt)p(s?)\[?:\]?/i, 'http$1:')
  text = text.replace(/(?<!\\)\\+052(?=\.)/, '*')
  if (!/[^\\]\./.test(text)) text = text.replace(/\\\./g, '.').replace(/^\^|\$$/g, '')
  const [, rule] = adBlockerRule.exec(text) ?? []
  if (rule !== undefined) return { text: rule, isGuess: true }
  const spoken = /^[\w-]+(?: dot [\w-]+)+$/i.test(text) ? text.replaceAll(/ dot /gi, '.') : text
  const joined = joinAtDots(spoken)
  return { text: joined, isGuess: joined !== text }
}

/** Undoes what people and programs do to a host. */
function spell(sent: string): Spelling {
  if (isPlainName(sent)) return { text: sent, isGuess: false }
  const [, mark = '', inner] = /^(\*\*|__|[*_])([^*_.]+\..*[^*_])\1$/.exec(sent) ?? []
  // One star or underscore at each end may also belong to a pattern, or to the name of a record: `_dmarc.example.com`.
  if (inner !== undefined && (mark.length > 1 || isRegistrable(inner))) return { text: inner, isGuess: mark === '*' }
  let text = sent.replace(/(?<!!)!+$/, '').replace(/^[*\u204e\u2217\u2731\ufe61\uff0a][.\u3002\uff0e\uff61]/, '*.')
  if (text.includes(':')) text = text.replace(/\.$/, '').replace(/^\[(?!.*\])/, '')
  const separated = separateStar(text.replace(/^\.(?=[^.])/, ''))
  const undone = undoDashes(separated)
  return { text: undone.text, isGuess: undone.isGuess || separated !== text }
}

/** Returns whether a text is a registrable domain, perhaps after `www.`. */
function isRegistrable(text: string): boolean {
  const name = toALabels(text.replace(/\.$/, '').replace(/^www\./i, ''))
  return typeof name === 'string' && readSuffix(name).registrableDomain === name
}

/**
 * Removes white space next to dots. Changes nothing where two texts meet, as in `Hello. World.com`, `No. one` or
 * `vs. us`: before the space, only `www.` and `*.` belong to the name after it; after the space, only some top-level
 * domains belong to the word before it.
 */
function joinAtDots(text: string): string {
  const parts = text.split(/\s+/)
  const belong = (part: string, next: string) =>
    (next.startsWith('.') && !part.endsWith('.')) ||
    /^(?:www|\*)\.$/i.test(part) ||
    (part.endsWith('.') && endsName(next))
  return parts.every((part, index) => index === 0 || belong(parts[index - 1] ?? '', part)) ? parts.join('') : text
}

/** Codes of countries that are words of English. */
const words = new Set('am as at be by do id in is it la me my no so st to us'.split(' '))

/** Returns whether a word after a dot and a space ends a name: `com`, `net`, `org`, or the code of a country. */
const endsName = (word: string) => /^(?:com|net|org)$/.test(word) || (/^[a-z]{2}$/.test(word) && !words.has(word))

/**
 * `*example.com`, `**.example.com`. Changes nothing for a star inside a label or after another label, or for a star
 * before a name such as `cdn.example.com`, because `site-cdn.example.com` may have been meant.
 */
function separateStar(text: string): string {
  const [, base = ''] = /^\*(?:\*\.)?([^*._-][^*]*)$/.exec(text) ?? []
  return base !== '' && (text.startsWith('**.') || isRegistrable(base)) ? `*.${base}` : text
}

/**
 * Turns dashes back into hyphens, because word processors replace hyphens with dashes. Only a dash between letters
 * stands for a hyphen. Changes nothing for `xn–`, where a word processor has turned two hyphens into one dash, and
 * nothing for a dash between two names: `example.com–example.org`. The other two, hyphens that fonts and PDF files
 * distinguish, stand for nothing else.
 */
function undoDashes(text: string): Spelling {
  const unchanged = { text, isGuess: false }
  if (!/[\u2010-\u2014\u2212]/.test(text) || /(?:^|\.)xn[\u2010-\u2014\u2212]/i.test(text)) return unchanged
  const [first = '', ...others] = text.split(/[\u2010-\u2014\u2212]/)
  const name = toALabels(first.replace(/^(?:\*\.)?(?:www\.)?/i, ''))
  const isName = typeof name === 'string' && name.includes('.') && readSuffix(name).isInPublicDns
  if (isName && others.join().includes('.')) return unchanged
  const characters = Array.from(text)
  const isBetweenLetters = (at: number) => [at - 1, at + 1].every(beside => isLetterOrDigit(characters[beside] ?? ''))
  const written = characters.map((character, at) => {
    const isHyphen =
      /[\u2010\u2011]/.test(character) || (/[\u2012-\u2014\u2212]/.test(character) && isBetweenLetters(at))
    return isHyphen ? '-' : character
  })
  return { text: written.join(''), isGuess: /[\u2012-\u2014\u2212]/.test(text) }
}
