import { parse } from 'tldts'

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

/** What the list says of a name. */
export interface ListEntry {
  /** The public suffix and one label more; `null` for a public suffix. */
  readonly domain: string | null
}

/**
 * Looks a canonical name up in both sections of the Public Suffix List (https://publicsuffix.org/list/, the algorithm
 * under "Formal Algorithm"), as shipped with the installed `tldts`.
 *
 * @returns `null` where the top-level label is not in the public DNS: set aside for special use, or unknown to the
 *   list, whose default rule `*`, made for cookies, would call any label a suffix.
 */
export function findListEntry(name: string): ListEntry | null {
  const entry = parse(name, options)
  const isRule = entry.isIcann === true || entry.isPrivate === true || isListed(name.slice(name.lastIndexOf('.') + 1))
  return isRule && !isListedForSpecialUse(entry.publicSuffix ?? '') ? entry : null
}

/** Of the top-level labels that are set aside, the list has these two. */
const isListedForSpecialUse = (suffix: string) => suffix === 'onion' || suffix === 'arpa' || suffix.endsWith('.arpa')

/**
 * Whether a rule of the list ends in this label. Most labels are a rule themselves; of `ck` the list has only `*.ck`,
 * and of `za` only `co.za` and its like.
 */
function isListed(topLevel: string): boolean {
  return [topLevel, `a.${topLevel}`, `co.${topLevel}`, `com.${topLevel}`, `gov.${topLevel}`].some(name => {
    const { isIcann, isPrivate } = parse(name, options)
    return isIcann === true || isPrivate === true
  })
}
