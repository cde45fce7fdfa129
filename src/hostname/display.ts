import { showHostname } from './display-rules.ts'
import { isInPublicDns } from './public-suffix.ts'
import { quote } from './quote.ts'

/**
 * Returns a hostname as people read it: each label in Unicode if that is safe, otherwise as an A-label. The result is
 * the same on every runtime. Use the result in pages, messages and logs, but compare, store and send `domain` itself.
 *
 * A label is shown in Unicode if all of this holds:
 *
 * - All its letters are for general use (Identifier_Status=Allowed of UTS #39). The middle dot is shown below `cat`.
 * - They belong to one script, or mix Chinese, Japanese or Korean with ASCII letters (level "Highly Restrictive" of
 *   UTS #39, section 5.2).
 * - Marks stand where they are written: no mark twice, no Kana mark without its Kana.
 * - Next to ASCII letters and digits, no Chinese, Japanese or Korean character looks like ASCII (confusables of UTS
 *   #39), and there is more than one such character.
 * - The label as a whole does not look like ASCII: it has a character that does not, and is not a single letter among
 *   digits. This condition does not apply below a top-level domain of the same script (`сахар.рф`), or of a country
 *   that uses this script (`сахар.ru`). Below `is`, þ and ð look like nothing else: they are letters of Icelandic.
 *
 * Labels with emoji or with joiners are always shown as A-labels. The top-level domain itself is always shown.
 *
 * Two names may still look alike: `bücher.de` and `bücheř.de` are both shown in Unicode, and so is `gmaıl.com`.
 *
 * @param domain A canonical hostname, as {@link classifyHostname} returns it: a name, a wildcard or an IP address.
 * @returns A string that `classifyHostname` reads as the same hostname. A string that is not canonical, or
 *   has more than 253 characters, is returned unchanged.
 *
 * @example
 * displayHostname('*.xn--bcher-kva.de') // '*.bücher.de'
 * displayHostname('xn--pple-43d.com') // 'xn--pple-43d.com', since аpple with a Cyrillic а looks like apple
 */
export function displayHostname(domain: string): string {
  return showHostname(domain, isInPublicDns)
}

/** Quotes a hostname for a message, as people read it. */
export const quoteDisplayed = (domain: string): string => quote(displayHostname(domain))
