import { isShortEnough } from './ldh-name.ts'
import { findRegistrableDomain, isInPublicDns } from './public-suffix.ts'

/**
 * The fast path, for what nearly everybody sends: a name in canonical form that can be registered.
 *
 * It takes lower-case letters, digits and single inner hyphens in two labels at least, the last one of letters only. It
 * leaves everything else, and every rejection, to the long way: white space, capitals, a trailing dot, wildcards,
 * addresses, and names with `--`, since two hyphens may begin an A-label.
 *
 * Both ways agree, because there is nothing in such a name to trim, to map or to read as a number, and the long way
 * ends in the same look-up. Held by `test/hostname/properties.test.ts`; measured by `npm run bench -- hostnames`.
 *
 * @param input Any value.
 */
export function classifyPlainName(input: string) {
  if (typeof input !== 'string' || !plainName.test(input) || !isShortEnough(input)) return null
  const registrableDomain = hasKnownTopLevel(input) ? findRegistrableDomain(input) : null
  return registrableDomain ? ({ valid: true, kind: 'name', domain: input, registrableDomain } as const) : null
}

const plainName = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+$/

/**
 * Whether a top-level label of up to three letters is in the public DNS, as far as that was asked before: an element is
 * found without making a string of the label and hashing that.
 */
const known = new Uint8Array(2 ** 15)

function hasKnownTopLevel(name: string): boolean {
  let start = name.length
  let packed = 0
  while (name.charCodeAt(start - 1) !== DOT) {
    start -= 1
    packed = (packed << 5) | (name.charCodeAt(start) & 31)
  }
  if (name.length - start > 3) return isInPublicDns(name.slice(start))
  if (known[packed] === 1) return true
  if (!isInPublicDns(name.slice(start))) return false
  known[packed] = 1
  return true
}

const DOT = 0x2e
