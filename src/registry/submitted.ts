import {
  classifyHostname,
  type HostnameRejection,
  type InvalidHostname,
  toCanonicalName,
} from '../hostname/classify.ts'
import { baseOf, isWildcard, type Name } from './name.ts'

/** A name that a caller sent. */
export interface Submitted extends Name {
  /** As it was sent, for messages. Default: the canonical form. */
  readonly input?: string
  /**
   * Why it cannot be registered by today's suffix list. Under an older list it may have been, and what is held stays
   * `existing`.
   */
  readonly refusal?: InvalidHostname
}

/** Whether a name that is refused with this code today may have been registered under an older suffix list. */
const mayBeHeld: Readonly<Record<HostnameRejection, boolean>> = {
  empty_domain: false,
  invalid_domain: false,
  public_suffix_domain: true,
  internal_domain: true,
  reserved_ip: false,
}

/** Reads what a caller sent: a name that may be registered or held, or else why it is none. */
export function readSubmitted(input: string): Submitted | InvalidHostname {
  const hostname = classifyHostname(input)
  if (hostname.valid) return { domain: hostname.domain, registrableDomain: hostname.registrableDomain, input }
  const domain = mayBeHeld[hostname.code] ? toCanonicalName(input) : null
  // No suffix list has ever allowed a single label, and a UUID is one.
  if (!domain?.includes('.')) return hostname
  return { domain, registrableDomain: isWildcard(domain) ? baseOf(domain) : domain, input, refusal: hostname }
}

/** Tells a name that may be registered or held from one that is neither. */
export const isName = (submitted: Submitted | InvalidHostname): submitted is Submitted => 'domain' in submitted

/**
 * Reads a name that may be held. Under an older suffix list that may be a wildcard over what is a public suffix
 * today, or a name whose top-level domain is gone: it is found by its text.
 */
export function toName(text: string): Name | null {
  const submitted = readSubmitted(text)
  return isName(submitted) ? submitted : null
}
