import { getPublicSuffix, parse } from 'tldts'
import { specialUseTopLevels } from './special-use.ts'

/**
 * The name is canonical already; users of GitHub Pages are as separate as registrants under `.com`. Spelled out in
 * full, which saves `tldts` the merging with its defaults.
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
 * Whether names below a top-level label can be in the public DNS: it is not set aside for special use, and the Public
 * Suffix List has it. The list's default rule `*`, made for cookies, would call any label a suffix.
 */
export function isInPublicDns(topLevel: string): boolean {
  if (known.has(topLevel)) return true
  if (specialUseTopLevels.has(topLevel) || !isListed(topLevel)) return false
  known.add(topLevel)
  return true
}

/** Labels that were found to be. All of them are on the list, so the set cannot grow past it. */
const known = new Set<string>()

/**
 * Looks a canonical name up in both sections of the Public Suffix List (https://publicsuffix.org/list/, the algorithm
 * under "Formal Algorithm"), as shipped with the installed `tldts`.
 *
 * One label more than the suffix is read off here, which is faster than by `getDomain` of `tldts`; measured by
 * `npm run bench -- hostnames`.
 *
 * @param name Of a top-level label that is in the public DNS.
 * @returns The public suffix and one label more; `null` for a public suffix.
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
 * Whether a rule of the list ends in this label. Most labels are a rule themselves; of `ck` the list has only `*.ck`,
 * and of `za` only `co.za` and its like.
 */
function isListed(topLevel: string): boolean {
  return [topLevel, `co.${topLevel}`, `com.${topLevel}`].some(name => {
    const { isIcann, isPrivate } = parse(name, options)
    return isIcann === true || isPrivate === true
  })
}
