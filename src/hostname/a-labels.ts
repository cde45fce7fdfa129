import punycode from 'punycode/punycode.js'
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from './ldh-name.ts'
import { encodePunycode } from './punycode-encode.ts'

/**
 * Decodes the labels that begin with `xn--`.
 *
 * @returns `null` if one of them does not decode, decodes to nothing but ASCII, or would be encoded differently (RFC
 *   5890, section 2.3.2.1).
 */
export function decodeALabels(name: string): string | null {
  if (!name.includes('xn--')) return name
  const labels: string[] = []
  for (const label of name.split('.')) {
    const decoded = label.startsWith('xn--') ? decode(label.slice(4)) : label
    if (decoded === null || (decoded !== label && (isAscii(decoded) || joinsSurrogates(decoded, label)))) return null
    labels.push(decoded)
  }
  return labels.join('.')
}

function decode(text: string): string | null {
  try {
    return punycode.decode(text)
  } catch {
    return null
  }
}

/**
 * Tells whether two surrogates that were encoded one by one have become one character. No other label that decodes
 * would be encoded differently.
 */
const joinsSurrogates = (decoded: string, label: string) =>
  /[\ud800-\udfff]/.test(decoded) && `xn--${encodePunycode(decoded)}` !== label

/** Encodes the labels that are not ASCII. Stops when the name is too long. */
export function encodeULabels(name: string): string | null {
  let encoded = ''
  for (const label of name.split('.')) {
    if (
      encoded.length > MAX_NAME_LENGTH ||
      (label.length > MAX_LABEL_LENGTH && Array.from(label).length > MAX_LABEL_LENGTH)
    )
      return null
    encoded += `${encoded && '.'}${isAscii(label) ? label : `xn--${encodePunycode(label)}`}`
  }
  return encoded
}

export const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)
