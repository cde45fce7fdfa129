import { isAscii } from './a-labels.ts'
import { type AddressReading, endsInNumber, readIPv4, readIPv6 } from './address.ts'
import { describeAddressRange } from './address-range.ts'
import { explainInvalid, explainUnknownTopLevel, type Mistake } from './explain.ts'
import { toALabels } from './idna.ts'
import { isLdhName, MAX_NAME_LENGTH, topLevelOf } from './ldh-name.ts'
import { classifyPlainName } from './plain-name.ts'
import { findRegistrableDomain, isInPublicDns } from './public-suffix.ts'
import { isPrintable, quote } from './quote.ts'
import { specialUseTopLevels } from './special-use.ts'
import { toULabels } from './uts46.ts'

/** Why a text cannot be registered as a hostname. */
export type HostnameRejection =
  | 'empty_domain'
  | 'invalid_domain'
  | 'public_suffix_domain'
  | 'internal_domain'
  | 'reserved_ip'

/** A hostname that can be registered. */
export interface ValidHostname {
  readonly valid: true
  /** A name, a wildcard for all names below a name, or an IP address. */
  readonly kind: 'name' | 'wildcard' | 'ip'
  /** Canonical: lower case, A-labels, no trailing dot; `*.` before a wildcard; an IPv6 address by RFC 5952, bare. */
  readonly domain: string
  /** The public suffix and one more label, without `*.`. For an IP address, the address itself. */
  readonly registrableDomain: string
}

/** A text that cannot be registered, and why. */
export interface InvalidHostname {
  readonly valid: false
  readonly code: HostnameRejection
  /** One sentence for a person: what is wrong with this input and, if that is certain, what to send instead. */
  readonly message: string
}

/** The result of {@link classifyHostname}. */
export type HostnameClassification = ValidHostname | InvalidHostname

/** A mapped name has at most 253 octets. Its input may be longer: UTS #46 ignores and composes characters. */
const MAX_INPUT_LENGTH = 512

/**
 * Tells whether a text is a public hostname, a wildcard over one, or a public IP address. If it is, gives its canonical
 * form; if not, the reason. The first rule that applies decides:
 *
 * 1. nothing but white space: `empty_domain`;
 * 2. a spelling of an IP address, however odd: `reserved_ip` unless it is public, and `invalid_domain` if it is public
 *    but not written canonically;
 * 3. no hostname by RFC 1123, RFC 5891 and UTS #46: `invalid_domain`;
 * 4. not in the public DNS, by RFC 6761 and the Public Suffix List: `internal_domain`;
 * 5. a public suffix, of the list's ICANN or private section: `public_suffix_domain`.
 *
 * White space around the text, one trailing dot and the case of letters do not matter. Nothing else is repaired.
 *
 * @param input Any text. One of more than 512 characters, white space included, is refused for its length, unless it is
 *   nothing but white space.
 * @returns Never throws.
 *
 * @example
 * classifyHostname('WWW.Bücher.example.') // { valid: false, code: 'internal_domain', message: … }
 * classifyHostname('WWW.Bücher.de.')
 * // { valid: true, kind: 'name', domain: 'www.xn--bcher-kva.de', registrableDomain: 'xn--bcher-kva.de' }
 * classifyHostname('0x7f.1') // { valid: false, code: 'reserved_ip', message: … }
 */
export function classifyHostname(input: string): HostnameClassification {
  return classifyPlainName(input) ?? classifyText(input)
}

function classifyText(input: string): HostnameClassification {
  if (typeof input !== 'string') {
    return { valid: false, code: 'invalid_domain', message: 'A hostname must be a string.' }
  }
  if (input.length > MAX_INPUT_LENGTH && /\S/.test(input)) {
    const problem = `is too long; a hostname has at most ${MAX_NAME_LENGTH} characters`
    return toInvalid(input, refuse('invalid_domain', problem))
  }
  const text = input.trim()
  const outcome = classify(text)
  return 'valid' in outcome ? outcome : toInvalid(text, outcome)
}

/** A rejection before its message is made. */
interface Refusal extends Mistake {
  readonly code: HostnameRejection
}

type Outcome = ValidHostname | Refusal

/** @param text Trimmed. */
function classify(text: string): Outcome {
  if (text === '') return refuse('empty_domain', 'is empty; send a name such as "www.example.com"')

  const isWildcard = text.startsWith('*.')
  const base = toAsciiLowerCase(isWildcard ? text.slice(2) : text)
  const ipv6 = readIPv6(base)
  if (ipv6) return isWildcard ? refuseWildcardAddress() : classifyIPv6(ipv6, base)

  const name = toCanonicalName(dropRootDot(base))
  const range = describeAddressRange(name ?? base)
  if (range !== undefined) return refuse('invalid_domain', range)
  if (name === null) return refuseMistake('invalid_domain', explainInvalid(dropRootDot(text)))
  if (endsInNumber(name)) return isWildcard ? classifyWildcardNumber(name) : classifyNumber(name, dropRootDot(base))
  return isWildcard ? classifyWildcard(name, text) : classifyName(name, text)
}

/** Removes the dot of the DNS root, in any spelling of UTS #46. An IPv6 address is not a name and has none. */
const dropRootDot = (text: string) => (text.includes(':') ? text : text.replace(/[.\u3002\uff0e\uff61]$/, ''))

/** Other letters are left to the mapping of UTS #46. */
const toAsciiLowerCase = (text: string) => text.replace(/[A-Z]+/g, capitals => capitals.toLowerCase())

function toCanonicalName(text: string): string | null {
  if (!isAscii(text)) return toALabels(text)
  return isLdhName(text) && (!text.includes('xn--') || toULabels(text) !== null) ? text : null
}

function classifyIPv6({ address, reserved }: AddressReading, sent: string): Outcome {
  const isCanonical = address === (sent.startsWith('[') ? sent.slice(1, -1) : sent)
  return classifyAddress({ address, reserved }, isCanonical, address)
}

/**
 * @param name A canonical name that ends in a number.
 * @param sent The same before it was mapped.
 */
function classifyNumber(name: string, sent: string): Outcome {
  const ipv4 = readIPv4(name)
  if (ipv4 === null) return refuseNumber()
  // Programs disagree on whether leading zeros mean octal. The address is certain only if both readings agree.
  const inDecimal = name.replace(/\b0+(?=[0-9])/g, '')
  return classifyAddress(ipv4, ipv4.address === sent, ipv4.address === inDecimal ? inDecimal : undefined)
}

const classifyWildcardNumber = (name: string) => (readIPv4(name) ? refuseWildcardAddress() : refuseNumber())

/** @param meant The address, if the sender certainly meant it. */
function classifyAddress({ address, reserved }: AddressReading, isCanonical: boolean, meant?: string): Outcome {
  if (reserved !== null) {
    const meaning = isCanonical ? '' : `is the address ${address}, which `
    return refuse('reserved_ip', `${meaning}is ${reserved}; send a public address or a name`)
  }
  if (isCanonical) return { valid: true, kind: 'ip', domain: address, registrableDomain: address }
  return refuse('invalid_domain', 'is an unusual spelling of an IP address', meant)
}

const refuseWildcardAddress = () =>
  refuse('invalid_domain', 'is a wildcard over an IP address; only names have names below them')

const refuseNumber = () =>
  refuse('invalid_domain', 'ends in a number and is no IP address; no top-level domain is a number')

/** @param name A canonical name. */
function classifyName(name: string, sent: string): Outcome {
  if (!isInPublicDns(topLevelOf(name))) return refuseInternal(name, sent)
  const registrableDomain = findRegistrableDomain(name)
  if (registrableDomain === null) return refusePublicSuffix()
  return { valid: true, kind: 'name', domain: name, registrableDomain }
}

/**
 * Looks the wildcard itself up in the list, which takes its `*` for a label like any other: `*.ck` is a public suffix
 * because every name one label below `ck` is.
 *
 * @param base The canonical name after `*.`.
 */
function classifyWildcard(base: string, sent: string): Outcome {
  const domain = `*.${base}`
  if (domain.length > MAX_NAME_LENGTH) {
    return refuse('invalid_domain', `has ${domain.length} characters with its "*.", so that no name fits below it`)
  }
  if (!isInPublicDns(topLevelOf(base))) return refuseInternal(base, sent)
  const registrableDomain = findRegistrableDomain(domain)
  if (registrableDomain === null || registrableDomain === domain) return refusePublicSuffix()
  return { valid: true, kind: 'wildcard', domain, registrableDomain }
}

const refusePublicSuffix = () =>
  refuse('public_suffix_domain', 'is a public suffix, under which anybody may own names; send a name below it')

/** @param name A canonical name; for a wildcard, its base. */
function refuseInternal(name: string, sent: string): Refusal {
  const topLevel = topLevelOf(name)
  const source = specialUseTopLevels.get(topLevel)
  if (source !== undefined) {
    const place = topLevel === name ? 'is' : `is under ".${topLevel}", which is`
    return refuse('internal_domain', `${place} set aside and not in the public DNS (${source})`)
  }
  if (topLevel === name) {
    return refuse('internal_domain', 'is a single label, a local name; send a full name such as "www.example.com"')
  }
  return refuseMistake('internal_domain', explainUnknownTopLevel(sent))
}

/**
 * Makes every refusal, so that all share one hidden class. The class of objects that only a spread makes is collected
 * with them, and the compiled code that depends on it is discarded. Measured by `npm run bench -- hostnames`.
 */
const refuse = (code: HostnameRejection, problem: string, meant?: string): Refusal => ({ code, problem, meant })

const refuseMistake = (code: HostnameRejection, { problem, meant }: Mistake) => refuse(code, problem, meant)

function toInvalid(sent: string, refusal: Refusal): InvalidHostname {
  return { valid: false, code: refusal.code, message: toMessage(sent, refusal) }
}

/** How many mistakes to undo, one inside the other, such as a URL in quotes before a comma. */
const MAX_MISTAKES = 4

/** Undoes all mistakes. If the rest is a hostname, suggests it; if not, also says what is wrong with the rest. */
function toMessage(sent: string, refusal: Refusal): string {
  const subject = sent === '' ? 'The hostname' : quote(sent)
  const message = `${subject} ${refusal.problem}`
  let { meant } = refusal
  for (let undone = 0; meant && undone < MAX_MISTAKES; undone += 1) {
    const outcome = classify(meant)
    if ('valid' in outcome) return `${message}; send "${showSuggestion(meant, outcome.domain)}" instead.`
    if (outcome.meant === undefined) return `${message}. ${quote(meant)} ${outcome.problem}.`
    meant = outcome.meant
  }
  return `${message}.`
}

/** As it was written, unless characters in it do not show. Never shortened. */
const showSuggestion = (meant: string, domain: string) => (isAscii(meant) || !isPrintable(meant) ? domain : meant)
