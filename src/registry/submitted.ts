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
   * Why today's suffix list does not allow it. It may have been registered under an older list, and then stays
   * `existing`.
   */
  readonly refusal?: InvalidHostname
}

/** Whether a name that is invalid with this code today may have been registered under an older suffix list. */
const mayBeHeld: Readonly<Record<HostnameRejection, boolean>> = {
  empty_domain: false,
  invalid_domain: false,
  public_suffix_domain: true,
  internal_domain: true,
  reserved_ip: false,
}

/** Reads what a caller sent: a name that can be registered or may already be, or the reason why not. */
export function readSubmitted(input: string): Submitted | InvalidHostname {
  const hostname = classifyHostname(input)
  if (hostname.valid) return { domain: hostname.domain, registrableDomain: hostname.registrableDomain, input }
  const domain = mayBeHeld[hostname.code] ? toCanonicalName(input) : null
  // No suffix list has ever allowed a single label, such as a UUID.
  if (!domain?.includes('.')) return hostname
  return { domain, registrableDomain: isWildcard(domain) ? baseOf(domain) : domain, input, refusal: hostname }
}

/** Whether a name can be registered or may already be. */
export const isName = (submitted: Submitted | InvalidHostname): submitted is Submitted => 'domain' in submitted

/**
 * Reads a name that may be registered already. Under an older suffix list, that may be a wildcard over a public suffix
 * of today, or a name whose top-level domain was removed: it is found as a string.
 */
export function toName(text: string): Name | null {
  const submitted = readSubmitted(text)
  return isName(submitted) ? submitted : null
}
