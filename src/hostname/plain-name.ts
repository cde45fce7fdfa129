import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH, topLevelOf } from './ldh-name.ts'
import { findRegistrableDomain, isInPublicDns } from './public-suffix.ts'

/**
 * The fast path for the common case: a name in canonical form that can be registered.
 *
 * It takes lower-case letters, digits and inner hyphens in two labels at least, the last one of letters only. It leaves
 * everything else, and every rejection, to the long way: white space, capitals, a trailing dot, wildcards, addresses
 * and A-labels.
 *
 * Both ways agree, because there is nothing in such a name to trim, to map or to read as a number, and the long way
 * ends in the same look-up. Held by `test/hostname/properties.test.ts`; measured by `npm run bench -- hostnames`.
 *
 * @param input Any value.
 */
export function classifyPlainName(input: string) {
  if (typeof input !== 'string' || input.length > MAX_NAME_LENGTH) return null
  const topLevel = readTopLevel(input)
  const registrableDomain = topLevel !== null && isKnown(topLevel, input) ? findRegistrableDomain(input) : null
  return registrableDomain ? ({ valid: true, kind: 'name', domain: input, registrableDomain } as const) : null
}

const SMALL_A = 0x61
const SMALL_Z = 0x7a
const ZERO = 0x30
const NINE = 0x39
const HYPHEN = 0x2d
const DOT = 0x2e

/** This many letters, of five bits each, fit into one small integer of the engine. */
const MAX_PACKED = 6

/**
 * Reads a name once, from end to end, without making a string of any part.
 *
 * @returns The packed top-level label; 0 for one of more letters than {@link MAX_PACKED}; `null` if the name is not
 *   plain.
 */
function readTopLevel(name: string): number | null {
  let start = 0
  let letters = 0
  let packed = 0
  let last = DOT
  for (let index = 0; index < name.length; index += 1) {
    const code = name.charCodeAt(index)
    if (code >= SMALL_A && code <= SMALL_Z) {
      letters += 1
      packed = (packed << 5) | (code & 31)
    } else if (code === HYPHEN) {
      if (last === DOT || (last === HYPHEN && name.startsWith('xn--', start))) return null
    } else if (code === DOT) {
      if (last === DOT || last === HYPHEN || index - start > MAX_LABEL_LENGTH) return null
      start = index + 1
      letters = 0
      packed = 0
    } else if (code < ZERO || code > NINE) {
      return null
    }
    last = code
  }
  const length = name.length - start
  if (start === 0 || length === 0 || letters < length || length > MAX_LABEL_LENGTH) return null
  return length > MAX_PACKED ? 0 : packed
}

/** The packed top-level labels of up to three letters that were found to be in the public DNS. */
const known = new Uint8Array(2 ** 15)

/** Those of four letters and more. All of them are on the suffix list, so the set cannot grow past it. */
const knownLonger = new Set<number>()

function isKnown(topLevel: number, name: string): boolean {
  if (topLevel < known.length ? known[topLevel] === 1 : knownLonger.has(topLevel)) return true
  if (!isInPublicDns(topLevelOf(name))) return false
  if (topLevel >= known.length) knownLonger.add(topLevel)
  else if (topLevel !== 0) known[topLevel] = 1
  return true
}
