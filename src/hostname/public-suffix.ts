import { getPublicSuffix, parse } from 'tldts'
import { isKnownTopLevel, rememberTopLevel } from './known-top-levels.ts'
import { specialUseTopLevels } from './special-use.ts'

/**
 * The name is canonical already; users of GitHub Pages are as separate as registrants under `.com`. Spelled out in full,
 * which saves `tldts` the merging with its defaults.
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
 * Finds the public suffix of a canonical name, from both sections of the Public Suffix List
 * (https://publicsuffix.org/list/, the algorithm under "Formal Algorithm"), as shipped with the installed `tldts`.
 *
 * @param topLevelStart Where the last label begins.
 * @returns `null` where the top-level label is not in the public DNS: set aside for special use, or unknown to the list,
 *   whose default rule `*`, made for cookies, would call any label a suffix.
 */
export function findPublicSuffix(name: string, topLevelStart: number): string | null {
  const suffix = getPublicSuffix(name, options) ?? name
  if (isInPublicDns(name, topLevelStart)) return suffix
  // A suffix with a dot is a rule of the list, so the list knows its top-level label, whatever was asked about it.
  const isRule = suffix.length > name.length - topLevelStart
  return isRule && !specialUseTopLevels.has(name.slice(topLevelStart)) ? suffix : null
}

function isInPublicDns(name: string, topLevelStart: number): boolean {
  return isKnownTopLevel(name, topLevelStart) || learnTopLevel(name.slice(topLevelStart))
}

function learnTopLevel(topLevel: string): boolean {
  if (specialUseTopLevels.has(topLevel) || !isListed(topLevel)) return false
  rememberTopLevel(topLevel)
  return true
}

/**
 * Whether a rule of the list ends in this label. Most labels are a rule themselves; of `ck` the list has only `*.ck`, and of
 * `za` only `co.za` and its like.
 */
function isListed(topLevel: string): boolean {
  return [topLevel, `a.${topLevel}`, `co.${topLevel}`, `com.${topLevel}`, `gov.${topLevel}`].some(name => {
    const { isIcann, isPrivate } = parse(name, options)
    return isIcann === true || isPrivate === true
  })
}
