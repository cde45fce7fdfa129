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
  /**
   * Why today's suffix list does not allow the name. If the name was registered under an older list, its status is
   * still `existing`.
   */
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
 * Reads a hostname that a caller sent. Returns a name that can be registered or may already be registered; for any
 * other string, the reason for its rejection.
 */
export function readSubmitted(input: string): Submitted | InvalidHostname {
  const hostname = classifyHostname(input)
  if (hostname.valid) return { domain: hostname.domain, registrableDomain: hostname.registrableDomain, input }
  const domain = mayBeHeld[hostname.code] ? toCanonicalName(input) : null
  // No suffix list has ever allowed a name with a single label, such as a UUID, or a wildcard over such a name.
  if (!domain || !/[^*]\./.test(domain)) return hostname
  return { domain, registrableDomain: isWildcard(domain) ? baseOf(domain) : domain, input, refusal: hostname }
}

/** Whether the result is a name that can be registered or may already be registered. */
export const isName = (submitted: Submitted | InvalidHostname): submitted is Submitted => 'domain' in submitted

/**
 * Reads a name. Accepts some names that today's suffix list does not allow, because they may have been registered
 * earlier. Examples are a wildcard over a name that is now a public suffix, and a name whose top-level domain was
 * removed from the list. Lookups still find such names, because they compare strings.
 */
export function toName(text: string): Name | null {
  const submitted = readSubmitted(text)
  return isName(submitted) ? submitted : null
}
