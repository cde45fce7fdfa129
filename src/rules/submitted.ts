import { classifyHostname, type InvalidHostname, toFormerName } from '../hostname/classify.ts'
import { baseOf, isWildcard, type Name } from './name.ts'

/** A name that a caller sent. */
export interface Submitted extends Name {
  /** The name as sent, for messages. Default: the canonical form. */
  readonly input?: string
  /**
   * Why the name is not allowed today. If it was registered when it was allowed, under an older suffix list or version
   * of Unicode, its status is still `existing`.
   */
  readonly refusal?: InvalidHostname
}

/**
 * Reads a hostname that a caller sent. Returns a name that can be registered or may already be registered; for any
 * other string, the reason for its rejection.
 */
export function readSubmitted(input: string): Submitted | InvalidHostname {
  const hostname = classifyHostname(input)
  if (hostname.valid) return { domain: hostname.domain, registrableDomain: hostname.registrableDomain, input }
  const domain = toFormerName(input)
  if (domain === null) return hostname
  const former = classifyHostname(domain)
  const base = isWildcard(domain) ? baseOf(domain) : domain
  return { domain, registrableDomain: former.valid ? former.registrableDomain : base, input, refusal: hostname }
}

/** Whether the result is a name that can be registered or may already be registered. */
export const isName = (submitted: Submitted | InvalidHostname): submitted is Submitted => 'domain' in submitted

/**
 * Reads a name. Accepts some names that are not allowed today, because they may have been registered earlier. Examples
 * are a wildcard over a name that is now a public suffix, and a name with a character that Unicode now disallows.
 * Lookups still find such names, because they compare strings.
 */
export function toName(text: string): Name | null {
  const submitted = readSubmitted(text)
  return isName(submitted) ? submitted : null
}
