/** The digits of Punycode, in order of their values. */
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const BASE = DIGITS.length
/** The first code point that is not ASCII. */
const FIRST = 0x80
const FIRST_BIAS = 72
/** Limits numbers while decoding. The numbers in valid labels are far smaller. */
const MAX_NUMBER = 2 ** 31 - 1

/** Encodes a label as Punycode (RFC 3492, section 6.3), without the prefix `xn--`: `bücher` as `bcher-kva`. */
export function encodePunycode(unicode: string): string {
  const codePoints: number[] = []
  let encoded = ''
  for (const character of unicode) {
    const codePoint = character.codePointAt(0) as number
    codePoints.push(codePoint)
    if (codePoint < FIRST) encoded += character
  }
  const basic = encoded.length
  if (basic > 0) encoded += '-'
  let done = basic
  let bias = FIRST_BIAS
  let delta = 0
  for (let current = FIRST; done < codePoints.length; current += 1, delta += 1) {
    const next = findNext(codePoints, current)
    delta += (next - current) * (done + 1)
    current = next
    for (const codePoint of codePoints) {
      if (codePoint < current) delta += 1
      if (codePoint !== current) continue
      encoded += encodeNumber(delta, bias)
      bias = adapt(delta, done + 1, done === basic)
      delta = 0
      done += 1
    }
  }
  return encoded
}

/** Returns the lowest code point that is at least `current`. */
function findNext(codePoints: readonly number[], current: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const codePoint of codePoints) if (codePoint >= current && codePoint < next) next = codePoint
  return next
}

/**
 * Decodes Punycode (RFC 3492, section 6.2).
 *
 * @param encoded In lower case, without the prefix `xn--`.
 * @throws {RangeError} if `encoded` is not Punycode.
 */
export function decodePunycode(encoded: string): string {
  const delimiter = encoded.lastIndexOf('-')
  const codePoints: number[] = []
  for (let at = 0; at < delimiter; at += 1) codePoints.push(encoded.charCodeAt(at))
  if (codePoints.some(codePoint => codePoint >= FIRST)) throw new RangeError('Not in ASCII')
  let current = FIRST
  let bias = FIRST_BIAS
  let position = 0
  for (let at = delimiter > 0 ? delimiter + 1 : 0; at < encoded.length; ) {
    const before = position
    let weight = 1
    for (let digits = 1, digit = BASE, threshold = 0; digit >= threshold; digits += 1) {
      digit = DIGITS.indexOf(encoded.charAt(at) || '-')
      if (digit < 0) throw new RangeError('Not a digit')
      at += 1
      position += digit * weight
      if (position > MAX_NUMBER) throw new RangeError('Too large')
      threshold = thresholdOf(digits, bias)
      weight *= BASE - threshold
    }
    const length = codePoints.length + 1
    bias = adapt(position - before, length, before === 0)
    current += Math.floor(position / length)
    position %= length
    codePoints.splice(position, 0, current)
    position += 1
  }
  return String.fromCodePoint(...codePoints)
}

/** Writes a number as a sequence of digits. The base differs from digit to digit (section 3.3). */
function encodeNumber(number: number, bias: number): string {
  let text = ''
  let rest = number
  for (let digits = 1; ; digits += 1) {
    const threshold = thresholdOf(digits, bias)
    if (rest < threshold) return text + DIGITS.charAt(rest)
    const base = BASE - threshold
    text += DIGITS.charAt(threshold + ((rest - threshold) % base))
    rest = Math.floor((rest - threshold) / base)
  }
}

/**
 * Returns the threshold of a digit. A digit below its threshold ends the number.
 *
 * @param digits The position of the digit, starting at 1.
 */
const thresholdOf = (digits: number, bias: number): number => Math.min(26, Math.max(1, BASE * digits - bias))

/** Adapts the bias (section 6.1). */
function adapt(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / length)
  let bias = 0
  for (; rest > 455; bias += BASE) rest = Math.floor(rest / (BASE - 1))
  return bias + Math.floor((BASE * rest) / (rest + 38))
}
