import { isShortEnough } from './ldh-name.ts'

/**
 * A fast path for ASCII: most names are sent in canonical form.
 *
 * It takes lower-case letters, digits and single inner hyphens in two labels at least, the last one of letters only. It
 * leaves white space, capitals, a trailing dot, wildcards, addresses, single labels and, since two hyphens may begin an
 * A-label, names with `--`.
 *
 * Both ways agree, because there is nothing in such a name to trim, to map or to read as a number, and the long way
 * ends in the same look-up. Held by `test/hostname/properties.test.ts`; measured by `npm run bench -- hostnames`.
 */
export function isPlainName(text: string): boolean {
  return plainName.test(text) && isShortEnough(text)
}

const plainName = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+$/
