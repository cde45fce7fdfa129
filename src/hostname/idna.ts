import { toASCII, toUnicode } from 'tr46'

const options = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
} as const

/**
 * Maps a name to its A-labels by UTS #46 (Unicode IDNA Compatibility Processing, section 4.2), non-transitional, with
 * the tables of the installed `tr46`, so that the answer does not depend on the runtime's version of Unicode. A-labels in
 * the input are decoded and held to the same rules. CheckHyphens is off, for `r3---sn.example.com` is a real host; what
 * RFC 5891, section 4.2.3.1, says of hyphens at either end of a U-label is held.
 *
 * @returns `null` for a name that is not allowed.
 */
export function toALabels(name: string): string | null {
  const mapped = toASCII(name, options)
  return mapped !== null && mayHoldOuterHyphen(mapped) && holdsOuterHyphen(mapped) ? null : mapped
}

/** The ASCII characters of a U-label stand between `xn--` and the last hyphen of its A-label (RFC 3492, section 3.1). */
const mayHoldOuterHyphen = (name: string) => /(?:^|\.)(?:-|xn--[^.]*-[^.]*-)|-(?:\.|$)/.test(name)

const holdsOuterHyphen = (name: string) => /(?:^|\.)-|-(?:\.|$)/.test(toUnicode(name, options).domain)
