import {
  classifyHostname,
  type HostnameRejection,
  type InvalidHostname,
  toCanonicalName,
} from '../hostname/classify.ts'
import { baseOf, isWildcard, type Name } from './name.ts'

/** A name that a caller sent. */
export interface Submitted extends Name {
  /** The name as sent, for messages. Default: the canonical form. */
  readonly input?: string
  /** Why today's suffix list does not allow the name. If it was registered under an older list, it stays `existing`. */
  readonly refusal?: InvalidHostname
}

/** For each code: whether a name that gets it today may have been registered under an older suffix list. */
const mayBeHeld: Readonly<Record<HostnameRejection, boolean>> = {
  empty_domain: false,
  invalid_domain: false,
  public_suffix_domain: true,
  internal_domain: true,
  reserved_ip: false,
}

/**
 * Reads a hostname that a caller sent. Returns a name that can be registered or may already be registered, or the
 * reason why it is neither.
 */
export function readSubmitted(input: string): Submitted | InvalidHostname {
  const hostname = classifyHostname(input)
  if (hostname.valid) return { domain: hostname.domain, registrableDomain: hostname.registrableDomain, input }
  const domain = mayBeHeld[hostname.code] ? toCanonicalName(input) : null
  // No suffix list has ever allowed a single label, such as a UUID, or a wildcard over one.
  if (!domain || !/[^*]\./.test(domain)) return hostname
  return { domain, registrableDomain: isWildcard(domain) ? baseOf(domain) : domain, input, refusal: hostname }
}

/** Whether it is a name that can be registered or may already be registered. */
export const isName = (submitted: Submitted | InvalidHostname): submitted is Submitted => 'domain' in submitted

/**
 * Reads a name that may already be registered. If it was registered under an older suffix list, it may be a wildcard
 * over what is now a public suffix, or its top-level domain may have been removed. It is still found, because names are
 * looked up as strings.
 */
export function toName(text: string): Name | null {
  const submitted = readSubmitted(text)
  return isName(submitted) ? submitted : null
}
