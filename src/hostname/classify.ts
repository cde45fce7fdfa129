import { type AddressReading, endsInNumber, readIPv4, readIPv6 } from './address.ts'
import { type Dots, startOfLabel } from './dots.ts'
import { type Explanation, explainInvalid, suggestTopLevel } from './explain.ts'
import { toALabels } from './idna.ts'
import { isLdhName, scanPlainName } from './plain-name.ts'
import { findPublicSuffix } from './public-suffix.ts'
import { quote } from './quote.ts'
import { specialUseTopLevels } from './special-use.ts'

/** Why a text is no hostname that can be registered. */
export type HostnameRejection =
  | 'empty_domain'
  | 'invalid_domain'
  | 'public_suffix_domain'
  | 'internal_domain'
  | 'reserved_ip'

/** A hostname that can be registered. */
export interface ValidHostname {
  readonly valid: true
  /** A name, a wildcard for all that is below a name, or an IP address. */
  readonly kind: 'name' | 'wildcard' | 'ip'
  /** Canonical: lower case, A-labels, no trailing dot; `*.` before a wildcard; an IPv6 address by RFC 5952, bare. */
  readonly domain: string
  /** The public suffix and one label more, without `*.`; of an IP address, the address itself. */
  readonly registrableDomain: string
}

export interface InvalidHostname {
  readonly valid: false
  readonly code: HostnameRejection
  /** One sentence for a person: what is wrong with this input and, where it is plain, what to send instead. */
  readonly message: string
}

export type HostnameClassification = ValidHostname | InvalidHostname

/** A mapped name has 253 octets at most; what UTS #46 ignores or composes on the way may make the input longer. */
const MAX_INPUT_LENGTH = 512

/**
 * Tells whether a text is a public hostname, a wildcard over one, or a public IP address; if so, in which canonical form,
 * and if not, why not. The first rule that applies decides:
 *
 * 1. nothing but white space: `empty_domain`;
 * 2. a spelling of an IP address, however odd: `reserved_ip` unless it is public, and `invalid_domain` if it is public but
 *    not written canonically;
 * 3. no hostname by RFC 1123, RFC 5891 and UTS #46: `invalid_domain`;
 * 4. not in the public DNS, by RFC 6761 and the Public Suffix List: `internal_domain`;
 * 5. a public suffix, of the list's ICANN or private section: `public_suffix_domain`.
 *
 * White space around the text, one trailing dot and the case of letters do not matter. Nothing else is repaired.
 *
 * @param input Any text, of any length; one over 512 characters is refused without reading it.
 * @returns Never throws.
 *
 * @example
 * classifyHostname('WWW.Bücher.example.') // { valid: false, code: 'internal_domain', message: … }
 * classifyHostname('WWW.Bücher.de.')
 * // { valid: true, kind: 'name', domain: 'www.xn--bcher-kva.de', registrableDomain: 'xn--bcher-kva.de' }
 * classifyHostname('0x7f.1') // { valid: false, code: 'reserved_ip', message: … }
 */
export function classifyHostname(input: string): HostnameClassification {
  const dots = typeof input === 'string' ? scanPlainName(input) : null
  return dots === null ? classifyUnusual(input) : classifyPlainName(input, dots)
}

/** The fast path, for a name that is canonical as it stands, or an IPv4 address. The long way comes to the same. */
function classifyPlainName(name: string, dots: Dots): HostnameClassification {
  const suffix = findPublicSuffix(name, startOfLabel(name, name.length, dots))
  if (suffix === null || suffix.length === name.length) {
    return endsInNumber(name) ? classifyUnusual(name) : rejectBySuffix(name, suffix)
  }
  const start = startOfLabel(name, name.length - suffix.length - 1, dots)
  return { valid: true, kind: 'name', domain: name, registrableDomain: start === 0 ? name : name.slice(start) }
}

/** The long way, for every input. */
function classifyUnusual(input: string): HostnameClassification {
  if (typeof input !== 'string') return reject('invalid_domain', 'A hostname must be a string.')
  const trimmed = input.trim()
  if (trimmed === '') return reject('empty_domain', 'The hostname is empty; send a name such as "www.example.com".')
  if (trimmed.length > MAX_INPUT_LENGTH) {
    return reject('invalid_domain', `${quote(trimmed)} is too long; a hostname has at most 253 characters.`)
  }

  // One trailing dot, in any spelling of UTS #46, is the root of the DNS.
  const host = trimmed.replace(/[.\u3002\uff0e\uff61]$/, '')
  return classifyHost(host, trimmed) ?? reject('invalid_domain', `${quote(trimmed)} ${describe(explainInvalid(host))}`)
}

/**
 * @param sent The text to quote in a message.
 * @returns `null` for what has not the form of a hostname or an IP address.
 */
function classifyHost(host: string, sent: string): HostnameClassification | null {
  const kind = host.startsWith('*.') ? 'wildcard' : 'name'
  const base = toAsciiLowerCase(kind === 'wildcard' ? host.slice(2) : host)

  const ipv6 = readIPv6(base)
  if (ipv6) return classifyAddress(ipv6, kind, sent, /^\[?([^\]%]*)\]?$/.exec(base)?.[1])

  const name = toCanonicalName(base)
  if (name === null) return null
  if (!endsInNumber(name)) return kind === 'wildcard' ? classifyWildcard(name) : classifyName(name)

  const ipv4 = readIPv4(name)
  if (ipv4) return classifyAddress(ipv4, kind, sent, base)
  return reject(
    'invalid_domain',
    `${quote(sent)} ends in a number and is no IP address; no top-level domain is a number.`,
  )
}

/** @param name A canonical name. */
function classifyName(name: string): HostnameClassification {
  const suffix = findPublicSuffix(name, startOfTopLevel(name))
  if (suffix === null || suffix.length === name.length) return rejectBySuffix(name, suffix)
  return { valid: true, kind: 'name', domain: name, registrableDomain: cutToRegistrableDomain(name, suffix) }
}

/**
 * The list is asked about the wildcard itself, whose `*` it takes for a label like any other: `*.ck` is a suffix because
 * every name one label below `ck` is.
 *
 * @param base The canonical name after `*.`.
 */
function classifyWildcard(base: string): HostnameClassification {
  const domain = `*.${base}`
  const suffix = findPublicSuffix(domain, startOfTopLevel(domain))
  if (suffix === null) return rejectInternal(base)
  if (suffix.length >= base.length) return rejectPublicSuffix(domain)
  return { valid: true, kind: 'wildcard', domain, registrableDomain: cutToRegistrableDomain(base, suffix) }
}

const startOfTopLevel = (name: string) => name.lastIndexOf('.') + 1

/** The public suffix and one label more. */
const cutToRegistrableDomain = (name: string, suffix: string) =>
  name.slice(name.lastIndexOf('.', name.length - suffix.length - 2) + 1)

/** @param spelling What was sent, in lower case and without brackets. */
function classifyAddress(
  { address, reserved }: AddressReading,
  kind: 'name' | 'wildcard',
  sent: string,
  spelling: string | undefined,
): HostnameClassification {
  if (kind === 'wildcard') {
    return reject(
      'invalid_domain',
      `${quote(sent)} is a wildcard over an IP address; only names have names below them.`,
    )
  }
  if (reserved !== null) {
    const meaning = address === spelling ? '' : ` is the address ${address}, which`
    return reject('reserved_ip', `${quote(sent)}${meaning} is ${reserved}; send a public address or a name.`)
  }
  if (address !== spelling) {
    return reject(
      'invalid_domain',
      `${quote(sent)} is an unusual spelling of an IP address; send "${address}" instead.`,
    )
  }
  return { valid: true, kind: 'ip', domain: address, registrableDomain: address }
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/** Full Unicode is left for UTS #46 to map. */
const toAsciiLowerCase = (text: string) => text.replace(/[A-Z]+/g, capitals => capitals.toLowerCase())

function toCanonicalName(text: string): string | null {
  if (scanPlainName(text) !== null) return text
  const mapped = isAscii(text) && !/(?:^|\.)xn--/.test(text) ? text : toALabels(text)
  return mapped !== null && isLdhName(mapped) ? mapped : null
}

const rejectBySuffix = (name: string, suffix: string | null) =>
  suffix === null ? rejectInternal(name) : rejectPublicSuffix(name)

function rejectPublicSuffix(domain: string): InvalidHostname {
  return reject(
    'public_suffix_domain',
    `${quote(domain)} is a public suffix, under which anybody may own names; send a name below it.`,
  )
}

function rejectInternal(name: string): InvalidHostname {
  const topLevelStart = startOfTopLevel(name)
  const topLevel = name.slice(topLevelStart)
  const source = specialUseTopLevels.get(topLevel)
  if (source !== undefined) {
    const place = topLevelStart === 0 ? 'is' : `is under ".${topLevel}", which is`
    return reject('internal_domain', `${quote(name)} ${place} set aside and not in the public DNS (${source}).`)
  }
  if (topLevelStart === 0) {
    return reject(
      'internal_domain',
      `${quote(name)} is a single label, a local name; send a full name such as "www.example.com".`,
    )
  }
  const problem = `is not in the public DNS: the Public Suffix List has no top-level domain ${quote(`.${topLevel}`)}`
  return reject('internal_domain', `${quote(name)} ${describe({ problem, suggestion: suggestTopLevel(name) })}`)
}

function describe({ problem, suggestion }: Explanation): string {
  const meant = suggestion === undefined ? null : classifyHost(suggestion, suggestion)
  return meant?.valid ? `${problem}; send ${quote(meant.domain)} instead.` : `${problem}.`
}

function reject(code: HostnameRejection, message: string): InvalidHostname {
  return { valid: false, code, message }
}
