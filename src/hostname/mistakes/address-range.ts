import { type AddressReading, readIPv4, readIPv6 } from '../address.ts'
import type { Mistake } from './mistake.ts'

/**
 * Matches an IP prefix: an address (or the first bytes of an IPv4 address), a slash, and a prefix length or IPv4 mask.
 */
const prefix = /^(?=[^/]*[.:])([\da-f.:[\]]+(?:%[^/]*)?)\/(\d{1,4}|\d{1,3}(?:\.\d{1,3}){3})$/i

/** `8.8.8.1-10`, `8.8.8-9.0-255`, `8.8.8.*`, `8.8.8.1 - 8.8.8.10`, `2606:4700::1 - 2606:4700::5` */
const ranges: readonly RegExp[] = [
  /^(?=.*[*x\u2013-])\d+(?:-\d+)?(?:\.(?:\d+(?:-\d+)?|[*x])){3}(?:\s*[-\u2013]\s*[\d.]+)?$/i,
  /^[\da-f]*:[\da-f:]*\s*[-\u2013]\s*[\da-f]*:[\da-f:]*$/i,
]

/** Explains an input in a notation that stands for several addresses. */
export function explainAddressRange(text: string): Mistake | undefined {
  if (!/^\[?\d|:/.test(text)) return undefined
  const [, network, size] = prefix.exec(text) ?? []
  if (network !== undefined && size !== undefined) return explainPrefix(network, size)
  if (!ranges.some(pattern => pattern.test(text))) return undefined
  const lowest = text.split('.', 4).map(part => /^\d*/.exec(part)?.[0] || '0')
  const [first = ''] = text.split(/[-\u2013]/, 1)
  return explainRange('range', text.includes(':') ? readIPv6(first.trim().toLowerCase()) : readIPv4(lowest.join('.')))
}

function explainPrefix(network: string, size: string): Mistake | undefined {
  const isShort = /^\d+(?:\.\d+){0,2}$/.test(network)
  const ipv4 = readIPv4(isShort ? [...network.split('.'), 0, 0, 0].slice(0, 4).join('.') : network)
  const address = ipv4 ?? readIPv6(network.toLowerCase())
  if (address === null) return undefined
  const [bits, version] = ipv4 ? [32, 'an IPv4'] : [128, 'an IPv6']
  const length = size === '255.255.255.255' ? 32 : Number(size)
  if (length > bits) {
    const problem = `has a prefix length of ${size}; ${version} address has only ${bits} bits`
    return { reason: 'prefix_too_long', problem, details: { length } }
  }
  if (length === bits && !isShort) {
    return { reason: 'address_prefix', problem: 'is the prefix of one IP address', meant: network }
  }
  return explainRange('prefix, which stands for a range', address)
}

function explainRange(notation: string, first: AddressReading | null): Mistake {
  const problem = `is a ${notation} of IP addresses`
  if (!first?.reserved) {
    return { reason: 'address_range', problem, advice: 'Enter each address as a separate entry' }
  }
  const { address, reserved: block } = first
  return {
    reason: 'address_range',
    problem: `${problem}, of which ${address} is not public`,
    advice: 'Enter public addresses or names',
    details: { address, block },
  }
}
