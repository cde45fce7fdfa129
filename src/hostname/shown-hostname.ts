import punycode from 'punycode/punycode.js'
import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { toALabels } from './idna/labels.ts'
import { lookAlikes, shownScripts } from './idna/tables.ts'

/**
 * Returns a hostname as people read it: see `displayHostname`, which passes the Public Suffix List. A page that shows
 * only names that a service accepted needs no list of top-level domains: all of theirs are known.
 *
 * @param isKnownTopLevel Returns whether a top-level A-label is in the public DNS.
 */
export function showHostname(domain: string, isKnownTopLevel: (label: string) => boolean): string {
  if (typeof domain !== 'string' || !domain.includes('xn--')) return domain
  const labels = domain.split('.')
  const topLevel = decode(labels.at(-1) ?? '')
  const shown = labels
    .map((label, index) => showLabel(label, topLevel, index === labels.length - 1 && isKnownTopLevel(label)))
    .join('.')
  // The Bidi rule for right-to-left labels applies to all labels of the name together.
  const [start, base] = shown.startsWith('*.') ? ['*.', shown.slice(2)] : ['', shown]
  const name = toALabels(base)
  return typeof name === 'string' && start + name === domain ? shown : domain
}

/** Returns the Unicode form of a label; the label itself if it is not a valid A-label. */
function decode(label: string): string {
  if (!label.startsWith('xn--')) return label
  try {
    const unicode = punycode.decode(label.slice(4))
    return toALabels(unicode) === label ? unicode : label
  } catch {
    return label
  }
}

function showLabel(label: string, topLevel: string, isKnownTopLevel: boolean): string {
  const unicode = decode(label)
  if (unicode === label) return label
  // ICANN has examined the top-level domains.
  if (isKnownTopLevel) return unicode
  return isSafe(Array.from(unicode), topLevel) ? unicode : label
}

/**
 * Created at the first call, not at import, so that bundlers can leave the tables out if {@link showHostname} is
 * unused.
 */
let tables: { scriptOf(codePoint: number): string; likenessOf(codePoint: number): string } | undefined

/** The scripts that may be mixed (UTS #39, section 5.2). Each letter stands for a script, as in `make-tables.mjs`. */
const together: readonly string[] = ['LHK', 'LHP', 'LHR']

/** Kana marks that repeat or prolong the Kana before them, where there is none; the middle dot next to a letter. */
const misplacedKana =
  /(?:^|[^\u3041-\u3096\u30a1-\u30fa\u30fc])\u30fc|(?:^|[^\u30a1-\u30fa\u30fc])[\u30fd\u30fe]|[a-z]\u30fb|\u30fb[a-z]/

function isSafe(characters: readonly string[], topLevel: string): boolean {
  tables ??= { scriptOf: createKindOf(shownScripts), likenessOf: createKindOf(lookAlikes) }
  const { scriptOf, likenessOf } = tables
  const scriptOfCharacter = (character: string) => scriptOf(character.codePointAt(0) as number)
  const label = characters.join('')
  // `toALabels` accepts the middle dots only in their places.
  const letters = characters.filter(
    character => !/[0-9-]|\u30fb/.test(character) && !(character === '\u00b7' && topLevel === 'cat'),
  )
  const scripts = new Set(letters.map(scriptOfCharacter))
  if (scripts.has(NONE) || misplacedKana.test(label)) return false
  // Digits of another script, without letters, and a mark that is hidden by the same mark before it.
  if (/^[\p{Nd}-]+$/u.test(label) || /(\p{M})\1/u.test(label)) return false
  if (scripts.size > 1 && !together.some(allowed => [...scripts].every(script => allowed.includes(script))))
    return false

  const isAlike = (character: string) => likenessOf(character.codePointAt(0) as number) !== NONE
  const foreign = letters.filter(character => !/[a-z]/.test(character))
  if (scripts.size > 1) {
    // Among Latin letters, a single character such as `丨`, `一` or `ノ` may pass for a letter, a hyphen or a slash.
    const isMixedLatin = scripts.has('L')
    if (isMixedLatin && (foreign.length === 1 || foreign.some(character => scriptOfCharacter(character) === 'L')))
      return false
    return !foreign.some(isAlike) && !/[a-z0-9][ー一]/.test(label)
  }
  if (Array.from(topLevel).some(character => character > '\x7f' && scripts.has(scriptOfCharacter(character))))
    return true
  // `16з`: among digits, a single letter may pass for a digit.
  const isAmongDigits = foreign.length === 1 && letters.length === 1 && /[0-9]/.test(label) && !scripts.has('H')
  return !isAmongDigits && !characters.every(character => /[a-z0-9-]/.test(character) || isAlike(character))
}
