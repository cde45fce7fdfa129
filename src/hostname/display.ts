import punycode from 'punycode/punycode.js'
import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { toALabels } from './idna/labels.ts'
import { lookAlikes, shownScripts } from './idna/tables.ts'

/**
 * Returns a hostname as people read it: each label in Unicode if that is safe, otherwise as an A-label. The result is
 * the same on every runtime. Use the result in pages, messages and logs, but compare, store and send `domain` itself.
 *
 * A label is shown in Unicode if three conditions hold:
 *
 * - Its letters belong to one script, or mix Chinese, Japanese or Korean with Latin (level "Highly Restrictive" of
 *   UTS #39, section 5.2).
 * - All its letters are for general use (Identifier_Status=Allowed).
 * - The label does not look like an ASCII label.
 *
 * Labels with emoji, with joiners, or with marks that belong to no script are always shown as A-labels.
 *
 * Two names may still look alike: `bücher.de` and `bücheř.de` are both shown in Unicode.
 *
 * @param domain A canonical hostname, as {@link classifyHostname} returns it: a name, a wildcard or an IP address.
 * @returns A string that `classifyHostname` reads as the same hostname. A string that is not canonical is returned
 *   unchanged.
 *
 * @example
 * displayHostname('*.xn--bcher-kva.de') // '*.bücher.de'
 * displayHostname('xn--pple-43d.com') // 'xn--pple-43d.com', since аpple with a Cyrillic а looks like apple
 */
export function displayHostname(domain: string): string {
  if (typeof domain !== 'string' || !domain.includes('xn--')) return domain
  const shown = domain.split('.').map(showLabel).join('.')
  // The Bidi rule for right-to-left labels applies to all labels of the name together.
  const [start, base] = shown.startsWith('*.') ? ['*.', shown.slice(2)] : ['', shown]
  const name = toALabels(base)
  return typeof name === 'string' && start + name === domain ? shown : domain
}

function showLabel(label: string): string {
  if (!label.startsWith('xn--')) return label
  try {
    const unicode = punycode.decode(label.slice(4))
    return isSafe(Array.from(unicode)) && toALabels(unicode) === label ? unicode : label
  } catch {
    return label
  }
}

/**
 * Created at the first call, not at import, so that bundlers can leave the tables out if {@link displayHostname} is
 * unused.
 */
let tables: { scriptOf(codePoint: number): string; likenessOf(codePoint: number): string } | undefined

/** The scripts that may be mixed (UTS #39, section 5.2). Each letter stands for a script, as in `make-tables.mjs`. */
const together: readonly string[] = ['LHK', 'LHP', 'LHR']

function isSafe(characters: readonly string[]): boolean {
  tables ??= { scriptOf: createKindOf(shownScripts), likenessOf: createKindOf(lookAlikes) }
  const { scriptOf, likenessOf } = tables
  const scripts = new Set<string>()
  for (const character of characters) {
    if (/[0-9-]/.test(character)) continue
    const script = scriptOf(character.codePointAt(0) as number)
    if (script === NONE) return false
    scripts.add(script)
  }
  if (scripts.size > 1 && !together.some(allowed => [...scripts].every(script => allowed.includes(script))))
    return false
  // Among Latin letters, a single look-alike makes a label unsafe: `comノ`, which looks like a path, or `googleーlogin`.
  const isAlike = (character: string) => likenessOf(character.codePointAt(0) as number) !== NONE
  if (scripts.size > 1) return !characters.some(isAlike) && !/[a-z0-9][ー一]/.test(characters.join(''))
  return !characters.every(character => /[a-z0-9-]/.test(character) || isAlike(character))
}
