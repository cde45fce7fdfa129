import { getPublicSuffix, parse } from 'tldts'
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

/**
 * Top-level labels in the public DNS that were met so far. All are on the list, so these cannot grow past it. Nine names in
 * ten end in a short one, which is looked up as a number: a new string would have to be made and hashed each time.
 */
const knownShort = new Set<number>()
const knownLong = new Set<string>()
const MAX_SHORT = 4

function isInPublicDns(name: string, topLevelStart: number): boolean {
  return name.length - topLevelStart <= MAX_SHORT
    ? knownShort.has(packLabel(name, topLevelStart)) || learnTopLevel(name, topLevelStart)
    : knownLong.has(name.slice(topLevelStart)) || learnTopLevel(name, topLevelStart)
}

/** Up to four ASCII characters as one integer. */
function packLabel(name: string, start: number): number {
  let packed = 0
  for (let index = start; index < name.length; index += 1) packed = (packed << 7) | name.charCodeAt(index)
  return packed
}

function learnTopLevel(name: string, start: number): boolean {
  const topLevel = name.slice(start)
  if (specialUseTopLevels.has(topLevel) || !isListed(topLevel)) return false
  if (topLevel.length <= MAX_SHORT) knownShort.add(packLabel(name, start))
  else knownLong.add(topLevel)
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
