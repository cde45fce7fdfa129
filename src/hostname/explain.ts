import { quote } from './quote.ts'

/** What is wrong with a hostname, and what its sender may have meant. */
export interface Explanation {
  readonly problem: string
  /** A guess, to be offered only if it is a hostname itself. */
  readonly suggestion?: string | undefined
}

/**
 * The common mistakes, most telling first; the first pattern that is found names the problem.
 * `suggest` turns the whole text into what was probably meant.
 */
const mistakes: readonly { pattern: RegExp; problem: string; suggest?: (host: string) => string }[] = [
  {
    pattern: /^[a-z][a-z0-9+.-]*:\/\//i,
    problem: 'is a URL, not a hostname',
    suggest: host =>
      host
        .replace(/^[^:]*:\/\//, '')
        .replace(/[/\\?#].*$/s, '')
        .replace(/^.*@/s, '')
        .replace(/:[0-9]*$/, ''),
  },
  {
    pattern: /@/,
    problem: 'holds an "@", as an e-mail address or a user name does',
    suggest: host => host.replace(/^.*@/s, '').replace(/[:/\\?#].*$/s, ''),
  },
  {
    pattern: /[/\\?#]/,
    problem: 'holds a path',
    suggest: host => host.replace(/[/\\?#].*$/s, '').replace(/:[0-9]*$/, ''),
  },
  { pattern: /:.*:/s, problem: 'holds colons and is no IPv6 address (RFC 4291, section 2.2)' },
  { pattern: /:[0-9]*$/, problem: 'holds a port', suggest: host => host.replace(/:[0-9]*$/, '') },
  { pattern: /[,;]+$/, problem: 'ends in a separator', suggest: host => host.replace(/[\s,;]+$/, '') },
  { pattern: /[\s,;]/, problem: 'holds a space or separator; send each hostname as an entry of its own' },
  {
    pattern: /\*/,
    problem: 'holds a "*" elsewhere than as the whole first label',
    suggest: host => `*.${host.replace(/^.*\*[^.]*?\.?(?=[^*.]+\.)/s, '')}`,
  },
  {
    pattern: /(?:^|\.)_/,
    problem: 'holds a label with an underscore, which names a record and not a host (RFC 8552)',
    suggest: host => host.replace(/^.*_[^.]*\./s, ''),
  },
  {
    pattern: /_/,
    problem: 'holds an underscore, which a hostname cannot (RFC 1123, section 2.1)',
    suggest: host => host.replace(/_/g, '-'),
  },
  { pattern: /%/, problem: 'holds a "%"; percent-encoding is not decoded' },
  { pattern: /^["'`<([].*["'`>)\]]$/s, problem: 'is in quotes or brackets', suggest: host => host.slice(1, -1) },
  {
    pattern: /^\.|\.\.|\.$|^$/,
    problem: 'holds an empty label',
    suggest: host => host.replace(/^\.+|\.+$/g, '').replace(/\.{2,}/g, '.'),
  },
]

const MAX_LABEL_LENGTH = 63
const MAX_NAME_LENGTH = 253

/** Explains why a text, trimmed and without a trailing dot, is no hostname. */
export function explainInvalid(host: string): Explanation {
  const mistake = mistakes.find(({ pattern }) => pattern.test(host))
  if (mistake) return { problem: mistake.problem, suggestion: mistake.suggest?.(host) }

  const labels = host.split('.')
  const isPlainText = /^[a-z0-9.-]*$/i.test(host)
  if (isPlainText && host.length > MAX_NAME_LENGTH) {
    return { problem: `has ${host.length} characters, more than the ${MAX_NAME_LENGTH} of a hostname (RFC 1035)` }
  }
  for (const label of labels) {
    if (isPlainText && label.length > MAX_LABEL_LENGTH) {
      return {
        problem: `has a label of ${label.length} characters, more than ${MAX_LABEL_LENGTH} (RFC 1035): ${quote(label)}`,
      }
    }
    if (/^-|-$/.test(label)) {
      return { problem: `has a label that begins or ends with a hyphen (RFC 1123, section 2.1): ${quote(label)}` }
    }
  }
  const aLabel = labels.find(label => /^xn--/i.test(label))
  if (isPlainText && aLabel) {
    return { problem: `has a label that begins with "xn--" and is no A-label (RFC 5890): ${quote(aLabel)}` }
  }
  const [forbidden] = host.match(/[^a-z0-9.-]/i) ?? []
  if (forbidden !== undefined && forbidden <= '\x7f') {
    return { problem: `holds the character ${quote(forbidden)}; only letters, digits, hyphens and dots are allowed` }
  }
  return { problem: 'is not a valid internationalized hostname (UTS #46), or is too long in its ASCII form' }
}

/** Top-level domains whose misspellings are worth a guess. */
const popularTopLevels = ['com', 'org', 'net', 'info', 'edu', 'gov', 'dev', 'app', 'cloud', 'online']

/** Guesses what a name with an unknown top-level label was meant to be: `example.con` is `example.com`. */
export function suggestTopLevel(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  const label = name.slice(dot + 1)
  const meant = dot > 0 ? popularTopLevels.find(topLevel => isOneEditAway(label, topLevel)) : undefined
  return meant && `${name.slice(0, dot)}.${meant}`
}

/** One letter wrong, missing, too many, or two neighbours swapped. */
function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  const restOfA = a.slice(start)
  const restOfB = b.slice(start)
  const isSwapped = restOfA[0] === restOfB[1] && restOfA[1] === restOfB[0] && restOfA.slice(2) === restOfB.slice(2)
  return (
    restOfA.slice(1) === restOfB.slice(1) || restOfA.slice(1) === restOfB || restOfA === restOfB.slice(1) || isSwapped
  )
}
