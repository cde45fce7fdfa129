import { topLevelOf } from './ldh-name.ts'
import { cidrOf, ipv4Blocks, ipv6Blocks } from './special-purpose-blocks.ts'

/** An IP address, read from any spelling. */
export interface AddressReading {
  /** The address in canonical form: four decimal numbers for IPv4, and RFC 5952 for IPv6. */
  readonly address: string
  /**
   * Why the address is not public, as a phrase to follow "is": `in 127.0.0.0/8, Loopback (RFC 1122)`. `null` for a
   * public address.
   */
  readonly reserved: string | null
}

/** The eight 16-bit numbers of an IPv6 address. */
type Groups = readonly number[]

/**
 * Returns whether a URL parser would treat the string as an IPv4 address (WHATWG URL, "ends in a number checker"). The
 * address may be malformed. No top-level domain is a number, so such a string cannot be a name.
 *
 * @param name Lower case, no trailing dot.
 */
export function endsInNumber(name: string): boolean {
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(topLevelOf(name))
}

/**
 * Reads an IPv4 address in every spelling of the WHATWG URL parser ("IPv4 parser") and of `inet_aton`: one to four
 * numbers, each of them decimal, octal with the prefix `0`, or hexadecimal with the prefix `0x`. The last number fills
 * the remaining bytes.
 *
 * @param text Lower case, no trailing dot.
 */
export function readIPv4(text: string): AddressReading | null {
  const value = parseIPv4(text)
  return value === null ? null : { address: formatIPv4(value), reserved: findIPv4Block(value) }
}

/**
 * Reads an IPv6 address (RFC 4291, section 2.2), bare or in brackets (RFC 3986), with or without a zone id (RFC 4007).
 *
 * @param text Lower case.
 */
export function readIPv6(text: string): AddressReading | null {
  if (!text.includes(':')) return null
  const unbracketed = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const groups = parseIPv6(unbracketed.replace(/^([^%]*)%[^/]*$/, '$1'))
  return groups === null ? null : { address: formatIPv6(groups), reserved: findIPv6Block(groups) }
}

/**
 * Returns the address that a reverse DNS name stands for (RFC 1035, section 3.5; RFC 3596, section 2.5).
 *
 * @param name Canonical.
 * @returns The address in canonical form.
 */
export function readReverseName(name: string): string | null {
  const [, ipv4] = /^((?:(?:0|[1-9]\d{0,2})\.){4})in-addr\.arpa$/.exec(name) ?? []
  const [, ipv6] = /^((?:[\da-f]\.){32})ip6\.arpa$/.exec(name) ?? []
  if (ipv4 !== undefined) return readIPv4(ipv4.slice(0, -1).split('.').reverse().join('.'))?.address ?? null
  if (ipv6 === undefined) return null
  const digits = ipv6.replaceAll('.', '').split('').reverse().join('')
  return readIPv6(digits.match(/.{4}/g)?.join(':') ?? '')?.address ?? null
}

function parseIPv4(text: string): number | null {
  const parts = text.split('.')
  if (parts.length > 4) return null
  let value = 0
  for (const [index, part] of parts.entries()) {
    const number = parseNumber(part)
    const bytes = index === parts.length - 1 ? 5 - parts.length : 1
    if (number === null || number >= 256 ** bytes) return null
    value = value * 256 ** bytes + number
  }
  return value
}

function parseNumber(text: string): number | null {
  if (/^0x[0-9a-f]*$/.test(text)) return text === '0x' ? 0 : Number.parseInt(text.slice(2), 16)
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8)
  return /^[1-9][0-9]*$/.test(text) ? Number.parseInt(text, 10) : null
}

function formatIPv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

const ipv4Ranges = ipv4Blocks.map(block => {
  const [network = '', bits] = cidrOf(block).split('/')
  const first = parseIPv4(network) ?? 0
  return { first, last: first + 2 ** (32 - Number(bits)) - 1, description: `in ${block}` }
})

function findIPv4Block(value: number): string | null {
  return ipv4Ranges.find(({ first, last }) => value >= first && value <= last)?.description ?? null
}

/** Reads an IPv6 address (RFC 4291, section 2.2), whose last 32 bits may be written as an IPv4 address. */
function parseIPv6(text: string): Groups | null {
  if (text.length > MAX_IPV6_LENGTH || !/^[0-9a-f.:]*$/.test(text)) return null
  const dotted = /(?<=:)[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/.exec(text)?.[0]
  const value = dotted === undefined ? null : parseIPv4(dotted)
  const hexadecimal =
    dotted === undefined || value === null
      ? text
      : `${text.slice(0, -dotted.length)}${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`

  const halves = hexadecimal.split('::').map(half => (half === '' ? [] : half.split(':')))
  const written = halves.flat()
  const isComplete = halves.length === 1 ? written.length === 8 : halves.length === 2 && written.length < 8
  if (!isComplete || !written.every(group => /^[0-9a-f]{1,4}$/.test(group))) return null
  const [start = [], end = []] = halves
  const zeros = Array<string>(8 - written.length).fill('0')
  return [...start, ...zeros, ...end].map(group => Number.parseInt(group, 16))
}

/**
 * Formats an address by RFC 5952, section 4. The longest run of zeros becomes `::`. If several runs are equally long,
 * the first one becomes `::`.
 */
function formatIPv6(groups: Groups): string {
  const text = groups.map(group => group.toString(16)).join(':')
  const [longest] = [...text.matchAll(/\b0(?::0)+\b/g)].sort((one, other) => other[0].length - one[0].length)
  if (longest === undefined) return text
  const end = longest.index + longest[0].length
  return `${text.slice(0, longest.index).replace(/:$/, '')}::${text.slice(end).replace(/^:/, '')}`
}

/** The length of `0000:0000:0000:0000:0000:ffff:255.255.255.255`, the longest spelling. */
const MAX_IPV6_LENGTH = 45

const toBits = (groups: Groups) => groups.map(group => group.toString(2).padStart(16, '0')).join('')

const ipv6Prefixes = ipv6Blocks.map(block => {
  const [network = '', bits] = cidrOf(block).split('/')
  return { prefix: toBits(parseIPv6(network) ?? []).slice(0, Number(bits)), description: `in ${block}` }
})

function findIPv6Block(groups: Groups): string | null {
  const bits = toBits(groups)
  const block = ipv6Prefixes.find(({ prefix }) => bits.startsWith(prefix))?.description
  const embedded = findEmbeddedIPv4(groups)
  if (embedded !== null) {
    const inner = findIPv4Block(embedded)
    const around = block ?? 'outside 2000::/3'
    return `${around}, and embeds ${formatIPv4(embedded)}${inner === null ? '' : `, which is ${inner}`}`
  }
  if (block !== undefined) return block
  return isGlobalUnicast(groups) ? null : 'outside 2000::/3, the only block for global unicast (RFC 4291)'
}

function isGlobalUnicast([first = 0]: Groups): boolean {
  return first >> 13 === 1
}

/**
 * Returns the IPv4 address that an IPv6 address contains, if any. An IPv6 address that contains an IPv4 address is
 * never public, because it is always in a reserved block.
 */
function findEmbeddedIPv4(groups: Groups): number | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const join = (high: number, low: number) => high * 0x10000 + low
  const startsWithZeros = (a | b | c | d) === 0
  const mapped = startsWithZeros && e === 0 && f === 0xffff // ::ffff:0:0/96, RFC 4291
  const translated = startsWithZeros && e === 0xffff && f === 0 // ::ffff:0:0:0/96, RFC 2765
  const compatible = startsWithZeros && e === 0 && f === 0 && g !== 0 // ::/96 without :: and ::1, RFC 4291
  const nat64 = a === 0x64 && b === 0xff9b && (c | d | e | f) === 0 // 64:ff9b::/96, RFC 6052
  if (mapped || translated || compatible || nat64) return join(g, h)
  if (a === 0x2002) return join(b, c) // 6to4: 2002::/16, RFC 3056
  if (a === 0x2001 && b === 0) return join(g ^ 0xffff, h ^ 0xffff) // Teredo client: 2001::/32, RFC 4380
  return null
}
