import { type AddressReading, endsInNumber, readIPv4, readIPv6 } from './address.ts'
import { explainAddressRange } from './address-range.ts'
import { explainInvalid, explainUnknownTopLevel } from './explain.ts'
import { isAscii, toALabels } from './idna/labels.ts'
import { isPlainName, MAX_NAME_LENGTH, topLevelOf } from './ldh-name.ts'
import type { Mistake } from './mistake.ts'
import { readSuffix } from './public-suffix.ts'
import { hidePassword, isPrintable, quote } from './quote.ts'
import { specialUseTopLevels } from './special-use.ts'

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
  if (typeof input !== 'string') {
    return { valid: false, code: 'invalid_domain', message: 'A hostname must be a string.' }
  }
  // By far the most names, which this makes twice as fast.
  if (isPlainName(input)) {
    const { isInPublicDns, registrableDomain } = readSuffix(input)
    if (isInPublicDns && registrableDomain !== null) {
      return { valid: true, kind: 'name', domain: input, registrableDomain }
    }
  }
  if (input.length > MAX_INPUT_LENGTH && /\S/.test(input)) {
    const problem = `is too long; a hostname has at most ${MAX_NAME_LENGTH} characters`
    return toInvalid(input, { code: 'invalid_domain', problem })
  }
  const text = input.trim()
  const outcome = classify(text)
  return 'valid' in outcome ? outcome : toInvalid(text, outcome)
}

/** A refused hostname before its message is made. */
interface Rejection extends Mistake {
  readonly code: HostnameRejection
  /** Whether the name may be accepted as A-labels. */
  readonly isPunctuated?: boolean
}

/** @param text Trimmed. */
function classify(text: string): ValidHostname | Rejection {
  if (text === '') return reject('empty_domain', 'is empty; send a name such as "www.example.com"')

  const isWildcard = text.startsWith('*.')
  const sent = isWildcard ? text.slice(2) : text
  const ipv6 = readIPv6(sent.toLowerCase())
  if (ipv6) return isWildcard ? rejectWildcardAddress() : classifyIPv6(ipv6, sent.toLowerCase())

  const base = dropRootDot(sent)
  const name = toALabels(base)
  const range = explainAddressRange(typeof name === 'string' ? name : base)
  if (range !== undefined) return isWildcard ? rejectWildcardAddress() : { code: 'invalid_domain', ...range }
  if (typeof name !== 'string') {
    const isPunctuated = name.reason === 'punctuation'
    return { code: 'invalid_domain', ...explainInvalid(dropRootDot(text), name), isPunctuated }
  }
  return isWildcard ? classifyWildcard(name, text) : classifyName(name, base, text)
}

/** Removes the dot of the DNS root, in any spelling of UTS #46. An IPv6 address is not a name and has none. */
const dropRootDot = (text: string) => (text.includes(':') ? text : text.replace(/[.\u3002\uff0e\uff61]$/, ''))

function classifyIPv6({ address, reserved }: AddressReading, sent: string): ValidHostname | Rejection {
  const isCanonical = address === (sent.startsWith('[') ? sent.slice(1, -1) : sent)
  return classifyAddress({ address, reserved }, isCanonical, address)
}

/**
 * Names that are live as A-labels may be refused in characters (see `toALabels`). The message then says so.
 *
 * @returns The A-labels to send.
 */
function findALabels(text: string): string | undefined {
  const isWildcard = text.startsWith('*.')
  const name = toALabels(dropRootDot(isWildcard ? text.slice(2) : text), { acceptsPunctuation: true })
  if (typeof name !== 'string') return undefined
  const outcome = isWildcard ? classifyWildcard(name, text) : classifyName(name, name, text)
  return 'valid' in outcome ? outcome.domain : undefined
}

/**
 * @param name A canonical name.
 * @param base The same before it was mapped.
 */
function classifyName(name: string, base: string, sent: string): ValidHostname | Rejection {
  if (endsInNumber(name)) return classifyNumber(name, base.toLowerCase())
  const { isInPublicDns, registrableDomain } = readSuffix(name)
  if (!isInPublicDns) return rejectInternal(name, sent)
  if (registrableDomain !== null) return { valid: true, kind: 'name', domain: name, registrableDomain }
  return reject('public_suffix_domain', 'is a public suffix, under which anybody may own names; send a name below it')
}

function classifyNumber(name: string, sent: string): ValidHostname | Rejection {
  const ipv4 = readIPv4(name)
  if (ipv4 === null) return rejectNumber()
  // Programs disagree on whether leading zeros mean octal. The address is certain only if both readings agree.
  const inDecimal = name.replace(/\b0+(?=[0-9])/g, '')
  return classifyAddress(ipv4, ipv4.address === sent, ipv4.address === inDecimal ? inDecimal : undefined)
}

/** @param meant The address, if the sender certainly meant it. */
function classifyAddress(
  { address, reserved }: AddressReading,
  isCanonical: boolean,
  meant?: string,
): ValidHostname | Rejection {
  if (reserved !== null) {
    const meaning = isCanonical ? '' : `is the address ${address}, which `
    return reject('reserved_ip', `${meaning}is ${reserved}; send a public address or a name`)
  }
  if (isCanonical) return { valid: true, kind: 'ip', domain: address, registrableDomain: address }
  return { code: 'invalid_domain', problem: 'is an unusual spelling of an IP address', meant }
}

/**
 * Looks the wildcard itself up in the list, which takes its `*` for a label like any other: `*.ck` is a public suffix
 * because every name one label below `ck` is.
 *
 * @param base The canonical name after `*.`.
 */
function classifyWildcard(base: string, sent: string): ValidHostname | Rejection {
  if (endsInNumber(base)) return readIPv4(base) ? rejectWildcardAddress() : rejectNumber()
  const domain = `*.${base}`
  if (domain.length > MAX_NAME_LENGTH) {
    return reject('invalid_domain', `has ${domain.length} characters with its "*.", so that no name fits below it`)
  }
  const { isInPublicDns, registrableDomain } = readSuffix(domain)
  if (!isInPublicDns) return rejectInternal(base, sent)
  if (registrableDomain !== null && registrableDomain !== domain) {
    return { valid: true, kind: 'wildcard', domain, registrableDomain }
  }
  const problem = 'is a wildcard over a public suffix, under which anybody may own names; send names below it'
  return reject('public_suffix_domain', problem)
}

/** @param name A canonical name; for a wildcard, its base. */
function rejectInternal(name: string, sent: string): Rejection {
  const topLevel = topLevelOf(name)
  const isAlone = topLevel === name && !sent.startsWith('*.')
  const source = specialUseTopLevels.get(topLevel)
  if (source !== undefined) {
    const place = isAlone ? 'is' : `is under ".${topLevel}", which is`
    return reject('internal_domain', `${place} set aside and not in the public DNS (${source})`)
  }
  return isAlone
    ? reject('internal_domain', 'is a single label, a local name; send a full name such as "www.example.com"')
    : { code: 'internal_domain', ...explainUnknownTopLevel(sent) }
}

const rejectWildcardAddress = () =>
  reject('invalid_domain', 'is a wildcard over IP addresses; only names have names below them')

const rejectNumber = () =>
  reject('invalid_domain', 'ends in a number and is not an IP address; no top-level domain is a number')

const reject = (code: HostnameRejection, problem: string): Rejection => ({ code, problem })

function toInvalid(sent: string, rejection: Rejection): InvalidHostname {
  return { valid: false, code: rejection.code, message: toMessage(sent, rejection) }
}

/** How many mistakes to undo, one inside the other, such as a URL in quotes before a comma. */
const MAX_MISTAKES = 4

/** Undoes all mistakes. If the rest is a hostname, suggests it; if not, also says what is wrong with the rest. */
function toMessage(sent: string, { problem, meant, isPunctuated }: Rejection): string {
  const subject = sent === '' ? 'The hostname' : quote(sent)
  const message = `${subject} ${problem}`
  const asALabels = isPunctuated ? findALabels(sent) : undefined
  const otherwise = asALabels === undefined ? '' : `; if you mean this name, send "${asALabels}"`
  let rest = meant
  for (let undone = 0; rest && undone < MAX_MISTAKES; undone += 1) {
    const outcome = classify(rest)
    if ('valid' in outcome) return `${message}; send "${showSuggestion(rest, outcome.domain)}" instead${otherwise}.`
    if (outcome.meant === undefined) {
      // The path of a URL that was cut off may begin within a password.
      const shown = hidePassword(sent)
      const isSecret = shown !== sent && !shown.includes(rest)
      return `${message}${otherwise}.${isSecret ? '' : ` ${quote(rest)} ${outcome.problem}.`}`
    }
    rest = outcome.meant
  }
  return `${message}${otherwise}.`
}

/** As it was written, unless characters in it do not show. Never shortened. */
const showSuggestion = (meant: string, domain: string) => (isAscii(meant) || !isPrintable(meant) ? domain : meant)
