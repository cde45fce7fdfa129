import { type AddressReading, endsInNumber, readIPv4, readIPv6, readReverseName, withoutBrackets } from './address.ts'
import { isAscii, type LabelFault, toALabels, toFormerALabels } from './idna/labels.ts'
import { isPlainName, MAX_INPUT_LENGTH, MAX_NAME_LENGTH, topLevelOf } from './ldh-name.ts'
import { explainAddressRange } from './mistakes/address-range.ts'
import { explainInvalid, explainUnknownTopLevel } from './mistakes/explain.ts'
import { type Meant, readMeant, type Spelling } from './mistakes/meant.ts'
import { FULL_NAME, type HostnameDetails, type HostnameReason, type Mistake } from './mistakes/mistake.ts'
import { symbols } from './mistakes/tokens.ts'
import { readSuffix, specialUseTopLevels } from './public-suffix.ts'
import { hidePassword, isPrintable, quote } from './quote.ts'

/** Why an input cannot be registered as a hostname. */
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
  /**
   * The canonical form: lower case, A-labels, no trailing dot. A wildcard begins with `*.`. An IPv6 address follows RFC
   * 5952 and has no brackets.
   */
  readonly domain: string
  /** The public suffix and one more label, without `*.`. For an IP address, the address itself. */
  readonly registrableDomain: string
}

/** An input that cannot be registered, and why. */
export interface InvalidHostname extends HostnameDetails {
  readonly valid: false
  readonly code: HostnameRejection
  /** A more detailed code, so you can write your own messages, reworded or translated. */
  readonly reason: HostnameReason
  /** The hostname to send instead, in canonical form. */
  readonly suggestion?: string | undefined
  /**
   * Whether the suggestion is certain: the same host in another notation, which a program may send without asking. If
   * `false`, it is a guess, such as the host of an e-mail address, for a person to confirm. Present only with a
   * suggestion.
   */
  readonly certain?: boolean | undefined
  /**
   * All hostnames that the input names, in canonical form and in order, if there are two or more and each is valid.
   * Ask a person before you send them. A list of more than 50 has none.
   */
  readonly hosts?: readonly string[] | undefined
  /** The same name in A-labels, to send if the rejected character is intended: `xn--mysite-xg0c.com`. */
  readonly aLabels?: string | undefined
  /**
   * What is left of the input after the mistake is removed, if that has another mistake. The message then mentions both
   * mistakes.
   */
  readonly rest?: string | undefined
  /** A message for people: what is wrong with this input and, if that is certain, what to send instead. */
  readonly message: string
}

/** The result of {@link classifyHostname}. */
export type HostnameClassification = ValidHostname | InvalidHostname

/**
 * Checks whether an input is a public name, a wildcard over one, or a public IP address. Returns the canonical form of
 * an accepted input, or the reason why an input is rejected. The first rule that applies decides:
 *
 * 1. Only white space: `empty_domain`.
 * 2. An IP address in any spelling: `reserved_ip` unless the address is public; `invalid_domain` if it is public but
 *    not in canonical form.
 * 3. Not a hostname by RFC 1123, RFC 5891 and UTS #46: `invalid_domain`.
 * 4. Not in the public DNS, by RFC 6761 and the Public Suffix List: `internal_domain`.
 * 5. A public suffix, from the list's ICANN or private section: `public_suffix_domain`.
 *
 * White space around the input, one trailing dot and the case of letters do not matter. Nothing else is repaired.
 *
 * @param input Any string. An input of more than 512 characters, including white space, is rejected as too long, unless
 *   it is only white space.
 * @returns The canonical form or the reason. Never throws.
 *
 * @example
 * classifyHostname('https://example.com/')
 * // { valid: false, code: 'invalid_domain', reason: 'url', suggestion: 'example.com', certain: true, message: … }
 * classifyHostname('WWW.Bücher.de.')
 * // { valid: true, kind: 'name', domain: 'www.xn--bcher-kva.de', registrableDomain: 'xn--bcher-kva.de' }
 */
export function classifyHostname(input: string): HostnameClassification {
  if (typeof input !== 'string') {
    const message = 'A hostname must be a string.'
    return { valid: false, code: 'invalid_domain', reason: 'not_a_string', message }
  }
  const plain = classifyPlainName(input)
  if (plain !== undefined) return plain
  if (input.length > MAX_INPUT_LENGTH && /\S/.test(input)) {
    const problem = `is too long; a hostname has at most ${MAX_NAME_LENGTH} characters`
    return toInvalid(input, reject('invalid_domain', 'name_too_long', problem))
  }
  const text = input.trim()
  const outcome = classify(text)
  return 'valid' in outcome ? outcome : toInvalid(text, outcome)
}

/** The fast path for most names. */
function classifyPlainName(text: string): ValidHostname | undefined {
  if (!isPlainName(text)) return undefined
  const { isInPublicDns, registrableDomain } = readSuffix(text)
  if (!isInPublicDns || registrableDomain === null) return undefined
  return { valid: true, kind: 'name', domain: text, registrableDomain }
}

/**
 * Returns the canonical form under which an input that is rejected today may have been registered: an older Public
 * Suffix List, another version of Unicode, or an IANA registry before it reserved an address, may have allowed it.
 *
 * @returns `null` for an input that has never been allowed. No list has ever allowed a name with a single label, such
 *   as a UUID, or a wildcard over such a name, or an address that is not spelled in canonical form.
 */
export function toFormerName(input: string): string | null {
  if (input.length > MAX_INPUT_LENGTH) return null
  const text = input.trim()
  const start = text.startsWith('*.') ? '*.' : ''
  const base = dropRootDot(text.slice(start.length))
  const address = withoutBrackets(base.toLowerCase())
  if ((readIPv6(address) ?? readIPv4(address))?.address === address) return start === '' ? address : null
  const name = toALabels(base)
  const former = typeof name === 'string' || isAscii(base) ? name : toFormerALabels(base)
  return typeof former === 'string' && former.includes('.') && !endsInNumber(former) ? start + former : null
}

/** A rejected hostname, before its message is written. */
interface Rejection extends Mistake {
  readonly code: HostnameRejection
}

/** An input that is neither a name nor an address. */
interface Unreadable {
  readonly fault: LabelFault
}

/** @param text Trimmed. */
function classify(text: string): ValidHostname | Rejection | Unreadable {
  if (text === '') return reject('empty_domain', 'empty', 'is empty', { advice: FULL_NAME })

  const isWildcard = text.startsWith('*.')
  const sent = isWildcard ? text.slice(2) : text
  const lower = sent.toLowerCase()
  const ipv6 = readIPv6(lower)
  if (ipv6) {
    const isCanonical = ipv6.address === withoutBrackets(lower)
    return isWildcard ? rejectWildcardAddress() : classifyAddress(ipv6, isCanonical, ipv6.address)
  }

  const base = dropRootDot(sent)
  const name = toALabels(base)
  const range = explainAddressRange(typeof name === 'string' ? name : base)
  if (range !== undefined) return isWildcard ? rejectWildcardAddress() : { code: 'invalid_domain', ...range }
  if (typeof name !== 'string') return { fault: name }
  const [bullet = ''] = isWildcard || isAscii(base) || endsInNumber(name) ? [] : (symbols.exec(base) ?? [])
  if (bullet !== '' && /^[^.\u3002\uff0e\uff61]/.test(base.slice(bullet.length)))
    return { fault: { reason: 'punctuation', label: base, character: bullet } }
  return isWildcard ? classifyWildcard(name, text) : classifyName(name, base, text)
}

/**
 * Removes a trailing dot, which stands for the DNS root, in any spelling that UTS #46 allows. An IPv6 address is
 * returned unchanged, because only names may end in a dot.
 */
const dropRootDot = (text: string) => (text.includes(':') ? text : text.replace(/[.\u3002\uff0e\uff61]$/, ''))

/**
 * Some names are accepted in A-labels but rejected in Unicode (see `toALabels`). For such a name, the message offers
 * the A-labels.
 *
 * @returns The A-labels to send.
 */
function findALabels(text: string): string | undefined {
  const isWildcard = text.startsWith('*.')
  const name = toALabels(dropRootDot(isWildcard ? text.slice(2) : text), { acceptsMore: true })
  if (typeof name !== 'string') return undefined
  const outcome = isWildcard ? classifyWildcard(name, text) : classifyName(name, name, text)
  return 'valid' in outcome ? outcome.domain : undefined
}

/**
 * @param name A canonical name.
 * @param base The name before it was mapped.
 */
function classifyName(name: string, base: string, sent: string): ValidHostname | Rejection {
  if (endsInNumber(name)) return classifyNumber(name, base.toLowerCase())
  const { isInPublicDns, isPrivate, registrableDomain } = readSuffix(name)
  if (!isInPublicDns) return rejectInternal(name, sent)
  if (registrableDomain !== null) return { valid: true, kind: 'name', domain: name, registrableDomain }
  const advice = `Enter a name below it${isPrivate ? ', or if it is yours, ask the operator of this service' : ''}`
  const problem = name.includes('.')
    ? 'is a public suffix: the names below it belong to different owners'
    : 'is a top-level domain, not a name below one'
  return reject('public_suffix_domain', 'public_suffix', problem, { advice })
}

function classifyNumber(name: string, sent: string): ValidHostname | Rejection {
  const ipv4 = readIPv4(name)
  if (ipv4 === null) return rejectNumber(name)
  // Programs disagree on whether leading zeros mean octal. The address is certain only if both readings agree.
  const inDecimal = name.replace(/\b0+(?=[0-9])/g, '')
  const outcome = classifyAddress(ipv4, ipv4.address === sent, inDecimal)
  if ('valid' in outcome || outcome.code !== 'invalid_domain' || !/^\d+(?:\.\d+){1,2}$/.test(sent)) return outcome
  const problem = `has ${sent.split('.').length} numbers; an IPv4 address has four`
  return reject('invalid_domain', 'incomplete_address', problem, { details: { address: ipv4.address } })
}

/** @param inDecimal The address as it is read by programs to which leading zeros mean nothing. */
function classifyAddress(
  { address, reserved }: AddressReading,
  isCanonical: boolean,
  inDecimal: string,
): ValidHostname | Rejection {
  if (reserved !== null) {
    const meaning = isCanonical ? '' : `is the address ${address}, which `
    const more = { advice: PUBLIC_ADDRESS, details: { address, block: reserved } }
    const block = reserved.replace(/ \(RFC \d+\)/g, '')
    return reject('reserved_ip', 'reserved_address', `${meaning}is not public: it is ${block}`, more)
  }
  if (isCanonical) return { valid: true, kind: 'ip', domain: address, registrableDomain: address }
  const details = { address }
  if (address === inDecimal) {
    const problem = 'is an unusual spelling of an IP address'
    return reject('invalid_domain', 'address_spelling', problem, { details, meant: address })
  }
  const other = readIPv4(inDecimal)?.address === inDecimal ? ` or as ${inDecimal}` : ''
  const problem = `is an unusual spelling of an IP address, which programs read as ${address}${other}`
  return reject('invalid_domain', 'address_spelling', problem, { advice: 'Enter the address that you mean', details })
}

/**
 * Looks up the wildcard itself in the Public Suffix List, as if `*` were any other label. For example, `*.ck` is a
 * public suffix, because every name one label below `ck` is a public suffix.
 *
 * @param base The canonical name after `*.`.
 */
function classifyWildcard(base: string, sent: string): ValidHostname | Rejection {
  if (endsInNumber(base)) return readIPv4(base) ? rejectWildcardAddress() : rejectNumber(base)
  const domain = `*.${base}`
  if (domain.length > MAX_NAME_LENGTH) {
    const problem = `has ${domain.length} characters with its "*.", so no name fits below it`
    return reject('invalid_domain', 'wildcard_too_long', problem, { details: { length: domain.length } })
  }
  const { isInPublicDns, registrableDomain } = readSuffix(domain)
  if (!isInPublicDns) return rejectInternal(base, sent)
  if (registrableDomain !== null && registrableDomain !== domain) {
    return { valid: true, kind: 'wildcard', domain, registrableDomain }
  }
  const suffix = dropRootDot(sent.slice(2))
  const level = base.includes('.') ? 'public suffix' : 'top-level domain'
  const problem = `is a wildcard over the ${level} ${quote(suffix)}`
  const more = { advice: 'Enter only your own names below it', details: { suffix } }
  return reject('public_suffix_domain', 'wildcard_over_public_suffix', problem, more)
}

/** @param name A canonical name; for a wildcard, its base. */
function rejectInternal(name: string, sent: string): Rejection {
  const topLevel = topLevelOf(name)
  const isWildcard = sent.startsWith('*.')
  const isAlone = topLevel === name && !isWildcard
  const address = isWildcard ? null : readReverseName(name)
  if (address !== null) {
    const problem = `is the reverse DNS name of the address ${address}`
    return reject('internal_domain', 'reverse_dns_name', problem, {
      details: { address },
      meant: address,
      isGuess: true,
    })
  }
  const source = specialUseTopLevels.get(topLevel)
  if (source !== undefined) return rejectReserved({ topLevel, source }, isAlone)
  if (!isAlone) return { code: 'internal_domain', ...explainUnknownTopLevel(sent) }
  if (/^(?:null|undefined|nan)$/.test(name)) {
    const problem = 'is what programs write for a missing value'
    return reject('internal_domain', 'missing_value', problem, { advice: FULL_NAME })
  }
  return reject('internal_domain', 'single_label', 'is a single label, a local name', { advice: FULL_NAME })
}

/** Rejects a reserved name. Names below `arpa` are in the public DNS, but are reserved for DNS infrastructure. */
function rejectReserved(details: { topLevel: string; source: string }, isAlone: boolean): Rejection {
  const { topLevel } = details
  const place = isAlone ? 'is' : `is under ".${topLevel}", which is`
  const use = topLevel === 'arpa' ? 'for the infrastructure of the DNS' : 'and not in the public DNS'
  return reject('internal_domain', 'reserved_name', `${place} reserved ${use}`, { details })
}

const rejectWildcardAddress = () =>
  reject('invalid_domain', 'wildcard_over_address', 'is a wildcard over an IP address, which has no names below it')

function rejectNumber(name: string): Rejection {
  return reject('invalid_domain', 'numeric_top_level', explainNumber(name))
}

/** @param name A name that ends in a number, but is not an IPv4 address in any spelling. */
function explainNumber(name: string): string {
  const numbers = name.split('.')
  if (!/^[\d.]+$/.test(name)) return 'ends in a number and is not an IP address'
  if (numbers.length === 1) return 'is a number, not a hostname'
  if (numbers.length !== 4) return `has ${numbers.length} numbers; an IPv4 address has four`
  const tooLarge = numbers.find(number => Number(number) > 255)
  if (tooLarge !== undefined) return `has the number ${tooLarge}; no number in an IPv4 address is above 255`
  return 'has a number with a leading zero, which programs read in different ways'
}

const PUBLIC_ADDRESS = 'Enter a public address or a name'

const reject = (
  code: HostnameRejection,
  reason: HostnameReason,
  problem: string,
  more: Omit<Mistake, 'reason' | 'problem'> = {},
): Rejection => ({ code, reason, problem, ...more })

/** @param outcome What {@link classify} returned. */
function toInvalid(sent: string, outcome: Rejection | Unreadable): InvalidHostname {
  const meant = 'fault' in outcome ? readMeant(sent) : toMeant(outcome)
  const rejection = toRejection(sent, outcome, meant)
  const { code, reason, details } = rejection
  const aLabels = 'fault' in outcome && mayBeInUse(outcome.fault, reason) ? findALabels(sent) : undefined
  const { suggestion, certain, hosts, shown, rest, restProblem, restAdvice } =
    meant === undefined || rejection.isLine ? {} : suggest(sent, meant)
  const advice = restProblem === undefined ? (rejection.advice ?? restAdvice) : restAdvice
  const subject = sent === '' ? 'The hostname' : quote(sent)
  const sentences = [
    `${subject} ${rejection.problem}.`,
    restProblem,
    suggestion === undefined ? advice && `${advice}.` : `Did you mean "${shown}"?`,
    aLabels && `If you mean this character, enter "${aLabels}".`,
  ]
  const message = sentences.filter(Boolean).join(' ')
  return {
    valid: false,
    code,
    reason,
    ...withoutUndefined({ ...details, suggestion, certain, hosts, aLabels, rest }),
    message,
  }
}

/** Returns whether a name with this fault might be in use, and accepted if it were sent in A-labels. */
const mayBeInUse = (fault: LabelFault, reason: HostnameReason) =>
  (fault.reason === 'punctuation' && reason !== 'several_hostnames') ||
  (fault.reason === 'misplaced joiner' && reason === 'misplaced_character')

const withoutUndefined = <Properties extends object>(properties: Properties): Partial<Properties> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Partial<Properties>

/** What was meant by a name or an address that is well-formed. */
const toMeant = ({ meant, isGuess = false }: Rejection): Meant | undefined =>
  meant === undefined
    ? undefined
    : { hosts: [{ text: meant, isGuess }], isClear: true, isList: false, hasNetwork: false }

const toRejection = (sent: string, outcome: Rejection | Unreadable, meant?: Meant): Rejection =>
  'fault' in outcome ? { code: 'invalid_domain', ...explainInvalid(dropRootDot(sent), outcome.fault, meant) } : outcome

/** What to send instead of an input. */
interface Suggested {
  /**
   * The canonical form, and the form to show. The form to show is the spelling of the input, unless that has invisible
   * characters. Neither form is shortened.
   */
  readonly suggestion?: string
  readonly shown?: string | undefined
  readonly certain?: boolean
  readonly hosts?: readonly string[]
  /** The only host in the input, if it is a name or an address that cannot be registered. */
  readonly rest?: string
  /** A sentence that says what is wrong with the rest of the input. */
  readonly restProblem?: string
  /** What to do about the rest of the input. */
  readonly restAdvice?: string | undefined
}

/**
 * Classifies the hosts that a text names. Mapping by UTS #46 costs far more per character than everything else, so at
 * most {@link MAX_NAME_LENGTH} characters of hosts are mapped.
 */
function suggest(sent: string, { hosts, isClear, isList }: Meant): Suggested {
  const international = isAscii(sent) ? [] : hosts.filter(({ text }) => !isAscii(text))
  if (!isClear || international.reduce((sum, { text }) => sum + text.length, 0) > MAX_NAME_LENGTH) return {}
  const domains = new Set<string>()
  let shown: string | undefined
  let certain = true
  for (const host of hosts) {
    const { text, outcome, isGuess } = classifySpelling(host)
    if (!('valid' in outcome))
      return hosts.length > 1 || text === sent ? {} : explainRest(sent, text, toRejection(text, outcome))
    domains.add(outcome.domain)
    shown ??= isAscii(text) || !isPrintable(text) ? outcome.domain : text
    if (isGuess) certain = false
    if (domains.size > 1 && !(isList && certain)) return {}
  }
  const [suggestion, ...others] = domains
  if (others.length > 0) return { hosts: [...domains] }
  return suggestion === undefined ? {} : { suggestion, shown, certain }
}

function classifySpelling({ text, isGuess }: Spelling) {
  const outcome = classifyPlainName(text) ?? classify(text)
  if ('valid' in outcome || 'fault' in outcome || outcome.meant === undefined) return { text, outcome, isGuess }
  return { text: outcome.meant, outcome: classify(outcome.meant), isGuess: isGuess || outcome.isGuess === true }
}

/** Mentions the rest if it is meant as a name or an address. */
function explainRest(sent: string, rest: string, { reason, problem, advice }: Rejection): Suggested {
  // Never shows a part of a password. If a password contains a slash, the end of the password may have been removed as
  // a path, and the beginning may be in the rest.
  const isName = reason === 'reserved_name' || (!/[\s"'@<>]/.test(rest) && /[.:]./.test(rest))
  const isShown = isName && hidePassword(sent).includes(rest)
  return isShown ? { rest, restProblem: `${quote(rest)} ${problem}.`, restAdvice: advice } : { restAdvice: FULL_NAME }
}
