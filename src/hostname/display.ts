import { isInPublicDns } from './public-suffix.ts'
import { showHostname } from './shown-hostname.ts'

/**
 * Returns a hostname as people read it: each label in Unicode if that is safe, otherwise as an A-label. The result is
 * the same on every runtime. Use the result in pages, messages and logs, but compare, store and send `domain` itself.
 *
 * A label is shown in Unicode if three conditions hold:
 *
 * - Its letters belong to one script, or mix Chinese, Japanese or Korean with Latin (level "Highly Restrictive" of
 *   UTS #39, section 5.2).
 * - All its letters are for general use (Identifier_Status=Allowed).
 * - The label does not look like an ASCII label, unless the top-level domain is of the same script: `сахар.рф`.
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
  return showHostname(domain, isInPublicDns)
}
