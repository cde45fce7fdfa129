import punycode from 'punycode/punycode.js'
import { createKindOf, NONE } from './idna/code-point-runs.ts'
import { toALabels } from './idna/labels.ts'
import { lookAlikes, shownScripts } from './idna/tables.ts'

/**
 * Returns a hostname as people read it: its labels in Unicode where that is safe, and as A-labels where it is not. The
 * same on every runtime. For pages, messages and logs; `domain` stays the form to compare, to store and to send.
 *
 * A label is shown in Unicode if its letters are of one script, or of Chinese, Japanese or Korean beside Latin ones
 * ("highly restrictive", UTS #39, section 5.2); if they all are for general use (Identifier_Status=Allowed); and if it
 * does not look like ASCII as a whole. Emoji, joiners, and marks that belong to no script stay A-labels.
 *
 * It does not promise that no two names look alike: `bücher.de` and `bücheř.de` are both shown.
 *
 * @param domain A canonical hostname, as {@link classifyHostname} answers it: a name, a wildcard or an IP address.
 * @returns A text that `classifyHostname` reads as the same hostname. Other texts are returned as they are.
 *
 * @example
 * displayHostname('*.xn--bcher-kva.de') // '*.bücher.de'
 * displayHostname('xn--pple-43d.com') // 'xn--pple-43d.com', since аpple with a Cyrillic а looks like apple
 */
export function displayHostname(domain: string): string {
  if (!domain.includes('xn--')) return domain
  const shown = domain.split('.').map(showLabel).join('.')
  // Right-to-left labels are held to a rule together with all others.
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

/** Made at the first call, so that a bundle without one leaves the table out. */
let scriptOf: ((codePoint: number) => string) | undefined

/** Which scripts may stand together (UTS #39, section 5.2), by the letters of `make-tables.mjs`. */
const together: readonly string[] = ['LHK', 'LHP', 'LHR']

function isSafe(characters: readonly string[]): boolean {
  scriptOf ??= createKindOf(shownScripts)
  const scripts = new Set<string>()
  for (const character of characters) {
    if (/[0-9-]/.test(character)) continue
    const script = scriptOf(character.codePointAt(0) as number)
    if (script === NONE) return false
    scripts.add(script)
  }
  if (scripts.size > 1 && !together.some(allowed => [...scripts].every(script => allowed.includes(script))))
    return false
  // Beside Latin letters one look-alike is enough: `comノ`, which looks like a path, or `googleーlogin`.
  const isAlike = (character: string) => lookAlikes.includes(character)
  if (scripts.size > 1) return !characters.some(isAlike) && !/[a-z0-9][ー一]/.test(characters.join(''))
  return !characters.every(character => /[a-z0-9-]/.test(character) || isAlike(character))
}
