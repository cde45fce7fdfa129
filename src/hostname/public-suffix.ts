import { parse } from 'tldts'
import { topLevelOf } from './ldh-name.ts'

/**
 * Options of `tldts`. Names are canonical, and both sections of the list apply: users of GitHub Pages are as separate
 * from each other as registrants under `.com`. All options are given, so `tldts` does not have to merge them with its
 * defaults.
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
 * Top-level labels that are reserved and not in the public DNS. All except `internal` come from the IANA Special-Use
 * Domain Names registry (https://www.iana.org/assignments/special-use-domain-names, RFC 6761). ICANN reserved
 * `internal` for private use on 2024-07-29 (board resolution 2024.07.29.06).
 *
 * `example.com`, `example.net` and `example.org` are left out on purpose: they resolve like any other name. `arpa`
 * stands for all names below it: those in the registry, such as `home.arpa`, and the rest of the infrastructure.
 */
export const specialUseTopLevels: ReadonlyMap<string, string> = new Map([
  ['alt', 'RFC 9476'],
  ['arpa', 'RFC 3172'],
  ['example', 'RFC 6761'],
  ['internal', 'ICANN, 2024'],
  ['invalid', 'RFC 6761'],
  ['local', 'RFC 6762'],
  ['localhost', 'RFC 6761'],
  ['onion', 'RFC 7686'],
  ['test', 'RFC 6761'],
])

/** What the Public Suffix List says about a name. */
interface SuffixReading {
  /** Whether the top-level label is on the list and not a special-use name, so the name can be in the public DNS. */
  readonly isInPublicDns: boolean
  /** Whether the suffix is in the list's private section: it belongs to a company, as `github.io` does. */
  readonly isPrivate: boolean
  /** The public suffix and one more label; `null` for a public suffix. */
  readonly registrableDomain: string | null
}

/**
 * Looks a canonical name up in both sections of the Public Suffix List, as shipped with the installed `tldts`. The
 * lookup follows the "Formal Algorithm" (https://publicsuffix.org/list/), but leaves out the default rule `*`, which is
 * meant for cookies and would make any label a suffix.
 */
export function readSuffix(name: string): SuffixReading {
  const { domain, isIcann, isPrivate } = parse(name, options)
  const topLevel = topLevelOf(name)
  const isListed = isIcann === true || isPrivate === true || hasRulesBelow(topLevel)
  const isInPublicDns = isListed && !specialUseTopLevels.has(topLevel)
  return { isInPublicDns, isPrivate: isPrivate === true, registrableDomain: domain }
}

/** Returns whether names below a top-level label can be in the public DNS. */
export const isInPublicDns = (topLevel: string) => readSuffix(topLevel).isInPublicDns

/**
 * Returns whether the list has rules for names below a top-level label. For some top-level labels, the list has only
 * such rules: `*.ck` but not `ck`, and `co.za` but not `za`.
 */
function hasRulesBelow(topLevel: string): boolean {
  return [`co.${topLevel}`, `com.${topLevel}`].some(name => {
    const { isIcann, isPrivate } = parse(name, options)
    return isIcann === true || isPrivate === true
  })
}
