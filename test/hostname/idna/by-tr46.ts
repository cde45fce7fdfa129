import { createRequire } from 'node:module'

/**
 * `npm run test:tables` takes tr46 from `updates/`: it is of the same version of Unicode as our tables, but needs Node
 * 22. All other runs take the older tr46 of this repository, which runs on Node 20.
 */
const folder = process.env.REFEREE ?? '.'
const require = createRequire(new URL(`../../../${folder}/package.json`, import.meta.url))
export const { toASCII, toUnicode } = require('tr46') as typeof import('tr46')

/** The version of Unicode of tr46. */
export const { unicodeVersion } = require('tr46/package.json') as { unicodeVersion: string }

async function readCodePoints(property: string): Promise<number[]> {
  const { default: codePoints } = (await import(
    require.resolve(`@unicode/unicode-${unicodeVersion}/${property}/code-points.mjs`)
  )) as { default: number[] }
  return codePoints
}

/** Characters whose properties have changed since Unicode 17, other than by being assigned: their Bidi_Class has. */
const changed = unicodeVersion === '17.0.0' ? [0x1b3a, 0x1b3c, 0x1b42] : []
const unknown = new Set([...(await readCodePoints('General_Category/Unassigned')), ...changed])

/** Returns whether all characters of a name have today's properties in the version of Unicode that tr46 has. */
export const isKnownToTr46 = (name: string) =>
  !Array.from(name).some(character => unknown.has(character.codePointAt(0) as number))

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
