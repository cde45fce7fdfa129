import { getPublicSuffix, parse } from 'tldts'
import { specialUseTopLevels } from './special-use.ts'

/**
 * Options of `tldts` for canonical names and both sections of the list: users of GitHub Pages are as separate as
 * registrants under `.com`. Given in full, so that `tldts` need not merge them with its defaults.
 */
const options = {
  allowIcannDomains: true,
  allowPrivateDomains: true,
  detectIp: false,
  detectSpecialUse: false,
  extraSuffixes: null,
  extractHostname: false,
  mixedInputs: false,
  validateHostname: false,
  validHosts: null,
}

/**
 * Tells whether names below a top-level label can be in the public DNS: it is no special-use name, and the Public
 * Suffix List has it. The list's default rule `*`, made for cookies, would take any label for a suffix.
 */
export function isInPublicDns(topLevel: string): boolean {
  if (known.has(topLevel)) return true
  if (specialUseTopLevels.has(topLevel) || !isListed(topLevel)) return false
  known.add(topLevel)
  return true
}

/** The labels found so far. All of them are on the list, so the set cannot grow past it. */
const known = new Set<string>()

/**
 * Looks a canonical name up in both sections of the Public Suffix List (https://publicsuffix.org/list/, the algorithm
 * under "Formal Algorithm"), as shipped with the installed `tldts`.
 *
 * The additional label is found here, which is faster than `getDomain` of `tldts`. Measured by
 * `npm run bench -- hostnames`.
 *
 * @param name A name whose top-level label is in the public DNS.
 * @returns The public suffix and one more label; `null` for a public suffix.
 */
export function findRegistrableDomain(name: string): string | null {
  const suffix = getPublicSuffix(name, options)
  if (suffix === null || suffix === name) return null
  let start = name.length - suffix.length - 1
  while (start > 0 && name.charCodeAt(start - 1) !== DOT) start -= 1
  return name.slice(start)
}

const DOT = 0x2e

/**
 * Tells whether any rule of the list ends in this label. Most labels are rules themselves. For `ck` the list has only
 * `*.ck`, and for `za` only `co.za` and others like it.
 */
function isListed(topLevel: string): boolean {
  return [topLevel, `co.${topLevel}`, `com.${topLevel}`].some(name => {
    const { isIcann, isPrivate } = parse(name, options)
    return isIcann === true || isPrivate === true
  })
}
