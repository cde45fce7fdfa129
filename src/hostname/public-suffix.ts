import { getPublicSuffix, parse } from 'tldts'

/** The name is canonical already, and GitHub Pages users are as separate as registrants under `.com`. */
const options = {
  allowPrivateDomains: true,
  detectIp: false,
  extractHostname: false,
  validateHostname: false,
} as const

/** Top-level labels of the list that were met so far; holds labels of the list only, so it cannot grow past it. */
const knownTopLevels = new Set<string>()

/**
 * Finds the public suffix of a canonical name, from both sections of the Public Suffix List
 * (https://publicsuffix.org/list/, the algorithm under "Formal Algorithm"), as shipped with the installed `tldts`.
 *
 * @returns `null` where the list has no rule for the top-level label: its default rule `*`, made for cookies, would
 *   call every unknown label a suffix.
 */
export function findPublicSuffix(name: string): string | null {
  const suffix = getPublicSuffix(name, options)
  if (suffix === null) return null
  // A rule with a dot is a rule of the list. A single label may be the default rule's.
  return suffix.includes('.') || isTopLevel(suffix) ? suffix : null
}

/** Whether the list has a rule that ends in this label. */
export function isTopLevel(label: string): boolean {
  if (knownTopLevels.has(label)) return true
  // `ck` is in the list only as `*.ck`, so ask for a name below it.
  const known = isListed(label) || isListed(`a.${label}`)
  if (known) knownTopLevels.add(label)
  return known
}

function isListed(name: string): boolean {
  const { isIcann, isPrivate } = parse(name, options)
  return isIcann === true || isPrivate === true
}
