import { kinds, survey } from './idna/characters.ts'
import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { decodeALabel, toALabels } from './idna/labels.ts'
import { lookAlikes, shownScripts, topLevelScripts } from './idna/tables.ts'
import { MAX_NAME_LENGTH } from './ldh-name.ts'

/**
 * Returns a hostname as people read it: see `displayHostname`, which passes the Public Suffix List. A page that shows
 * only names that a service accepted needs no list of top-level domains: all of theirs are known.
 *
 * @param isKnownTopLevel Returns whether a top-level A-label is in the public DNS.
 */
export function showHostname(domain: string, isKnownTopLevel: (label: string) => boolean): string {
  if (typeof domain !== 'string' || domain.length > MAX_NAME_LENGTH || !domain.includes('xn--')) return domain
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
  const unicode = label.startsWith('xn--') ? decodeALabel(label) : null
  return unicode !== null && toALabels(unicode) === label ? unicode : label
}

function showLabel(label: string, topLevel: string, isKnownTopLevel: boolean): string {
  const unicode = decode(label)
  if (unicode === label) return label
  // ICANN has examined the top-level domains.
  if (isKnownTopLevel) return unicode
  return isSafe(Array.from(unicode), topLevel) ? unicode : label
}

const scriptOf = /* @__PURE__ */ createKindOf(shownScripts)
const likenessOf = /* @__PURE__ */ createKindOf(lookAlikes)

/** The scripts that may be mixed (UTS #39, section 5.2). Each letter stands for a script, as in `make-tables.mjs`. */
const together: readonly string[] = ['LHK', 'LHP', 'LHR']

/** Kana marks that repeat or prolong the Kana before them, where there is none; the middle dot next to a letter. */
const misplacedKana =
  /(?:^|[^\u3041-\u3096\u30a1-\u30fa\u30fc])\u30fc|(?:^|[^\u30a1-\u30fa\u30fc])[\u30fd\u30fe]|[a-z]\u30fb|\u30fb[a-z]/

const MARKS = kinds.MARK | kinds.THIN_MARK | kinds.VIRAMA | kinds.THIN_VIRAMA

/** Returns whether a label may be shown, by the conditions that `displayHostname` lists, in their order. */
function isSafe(characters: readonly string[], topLevel: string): boolean {
  const scriptOfCharacter = (character: string) => scriptOf(character.codePointAt(0) as number)
  const isAlike = (character: string) =>
    likenessOf(character.codePointAt(0) as number) !== NONE && !(topLevel === 'is' && /[þð]/.test(character))

  // `toALabels` accepts the middle dots only in their places.
  const letters = characters.filter(
    character => !/[0-9-]|\u30fb/.test(character) && !(character === '\u00b7' && topLevel === 'cat'),
  )
  const scripts = [...new Set(letters.map(scriptOfCharacter))]
  if (scripts.includes(NONE)) return false
  const isMixed = scripts.length > 1
  if (isMixed && !together.some(allowed => scripts.every(script => allowed.includes(script)))) return false

  const isRepeatedMark = (character: string, index: number) =>
    character === characters[index - 1] && (survey(character) & MARKS) !== 0
  if (misplacedKana.test(characters.join('')) || characters.some(isRepeatedMark)) return false

  const foreign = letters.filter(character => !/[a-z]/.test(character))
  if (isMixed && scripts.includes('L')) {
    if (foreign.length === 1 || foreign.some(character => scriptOfCharacter(character) === 'L')) return false
    const mayPass = (character = '') => isAlike(character) || character === '一'
    return !characters.some(
      (character, index) => /[a-z0-9]/.test(character) && [index - 1, index + 1].some(at => mayPass(characters[at])),
    )
  }

  const usual = scriptsBelow(topLevel)
  if (scripts.some(script => usual.includes(script))) return true
  const isAmongDigits = letters.length === 1 && foreign.length === 1 && /[0-9]/.test(characters.join(''))
  if (isAmongDigits && !/[HL]/.test(scripts.join(''))) return false
  return !characters.every(character => /[a-z0-9-]/.test(character) || isAlike(character))
}

/** Returns the scripts that are usual below a top-level domain: its own or, for a country, those of its languages. */
function scriptsBelow(topLevel: string): string {
  const ofCountry = topLevelScripts.split(' ').find(each => each.startsWith(`${topLevel}:`))
  if (ofCountry !== undefined) return ofCountry.slice(topLevel.length + 1)
  const foreign = Array.from(topLevel).filter(character => character > '\x7f')
  return foreign.map(character => scriptOf(character.codePointAt(0) as number)).join('')
}
