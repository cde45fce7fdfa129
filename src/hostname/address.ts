import ipaddr from 'ipaddr.js'
import { topLevelOf } from './ldh-name.ts'
import { ipv4Blocks, ipv6Blocks } from './special-purpose-blocks.ts'

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
  // `ipaddr.js` does not know `0x`, a spelling of zero.
  const digits = text.replace(/(?<![^.])0x(?![^.])/g, '0')
  if (!ipaddr.IPv4.isValid(digits)) return null
  const address = ipaddr.IPv4.parse(digits)
  return { address: address.toString(), reserved: findBlock(address, ipv4Ranges) }
}

/**
 * The last 32 bits may be written as an IPv4 address. `ipaddr.js` reads leading zeros and hexadecimal numbers there,
 * but no URL parser does.
 */
const ipv6Characters = /^[\da-f:]+(?::(?:(?:0|[1-9]\d*)\.){3}(?:0|[1-9]\d*))?$/

/**
 * Reads an IPv6 address (RFC 4291, section 2.2), bare or in brackets (RFC 3986), with or without a zone id (RFC 4007).
 *
 * @param text Lower case.
 */
export function readIPv6(text: string): AddressReading | null {
  const withoutZone = withoutBrackets(text).replace(/^([^%]*)%[^/\s]*$/, '$1')
  if (!ipv6Characters.test(withoutZone)) return null
  // `ipaddr.js` reads `::1.2.3.4` as `::ffff:1.2.3.4`, but `0::1.2.3.4` as RFC 4291 says.
  const digits = withoutZone.replace(/^::(?=\d+\.)/, '0::')
  if (!ipaddr.IPv6.isValid(digits)) return null
  const address = ipaddr.IPv6.parse(digits)
  return { address: address.toString(), reserved: findIPv6Block(address) }
}

export const withoutBrackets = (text: string) => text.replace(/^\[(.*)\]$/, '$1')

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

/** A block in CIDR notation, by its description. */
type Ranges<Address> = Readonly<Record<string, [Address, number]>>

const ipv4Ranges: Ranges<ipaddr.IPv4> = Object.fromEntries(
  ipv4Blocks.map(([block, name]) => [`in ${block}, ${name}`, ipaddr.IPv4.parseCIDR(block)]),
)
const ipv6Ranges: Ranges<ipaddr.IPv6> = Object.fromEntries(
  ipv6Blocks.map(([block, name]) => [`in ${block}, ${name}`, ipaddr.IPv6.parseCIDR(block)]),
)
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Returns the description of the first block that contains an address. */
const findBlock = <Address extends ipaddr.IPv4 | ipaddr.IPv6>(address: Address, ranges: Ranges<Address>) =>
  ipaddr.subnetMatch(address, ranges, '') || null

function findIPv6Block(address: ipaddr.IPv6): string | null {
  const block = findBlock(address, ipv6Ranges)
  const embedded = findEmbeddedIPv4(address)
  if (embedded !== null) {
    const inner = findBlock(embedded, ipv4Ranges)
    return `${block ?? 'outside 2000::/3'}, and embeds ${embedded}${inner === null ? '' : `, which is ${inner}`}`
  }
  if (block !== null) return block
  return address.match(globalUnicast) ? null : 'outside 2000::/3, the only block for global unicast (RFC 4291)'
}

/** The blocks whose addresses contain an IPv4 address, by its place. Smaller blocks are before larger ones. */
const embeddings = {
  nowhere: [ipaddr.IPv6.parseCIDR('::/112')], // contains `::` and `::1`
  last: [
    ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), // mapped, RFC 4291
    ipaddr.IPv6.parseCIDR('::ffff:0:0:0/96'), // translated, RFC 2765
    ipaddr.IPv6.parseCIDR('::/96'), // compatible, RFC 4291
    ipaddr.IPv6.parseCIDR('64:ff9b::/96'), // NAT64, RFC 6052
  ],
  second: [ipaddr.IPv6.parseCIDR('2002::/16')], // 6to4, RFC 3056
  lastInverted: [ipaddr.IPv6.parseCIDR('2001::/32')], // Teredo, RFC 4380
}

/**
 * Returns the IPv4 address that an IPv6 address contains, if any. An IPv6 address that contains an IPv4 address is
 * never public, because it is always in a reserved block.
 */
function findEmbeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray()
  switch (ipaddr.subnetMatch(address, embeddings)) {
    case 'last':
      return new ipaddr.IPv4(bytes.slice(12))
    case 'second':
      return new ipaddr.IPv4(bytes.slice(2, 6))
    case 'lastInverted':
      return new ipaddr.IPv4(bytes.slice(12).map(byte => byte ^ 0xff))
    default:
      return null
  }
}
