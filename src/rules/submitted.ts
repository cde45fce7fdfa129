import { classifyHostname, type HostnameRejection, type InvalidHostname, toFormerName } from '../hostname/classify.ts'
import { isText } from '../options.ts'
import { baseOf, type Name } from './name.ts'

/** The codes of the rules of overlap. */
export type ConflictCode = 'wildcard_conflict' | 'subdomain_conflict' | 'domain_already_licensed'

/** A DNS record that proves a name, to be shown to whoever can add it. */
export interface DnsRecord {
  /** `TXT`, for example. */
  readonly type: string
  /** The whole name of the record: `_example-challenge.example.com`. */
  readonly name: string
  /** The same name as most forms for records want it, without the zone: `_example-challenge`. */
  readonly host: string
  /** The zone to which the record is added: `example.com`. */
  readonly zone: string
  readonly value: string
}

/** @returns The record without other fields, or `undefined` if one of its fields is missing or empty. */
export function readDnsRecord(given: unknown): DnsRecord | undefined {
  const { type, name, host, zone, value } = (given ?? {}) as Partial<DnsRecord>
  const record = { type, name, host, zone, value }
  return Object.values(record).every(field => isText(field) && field !== '') ? (record as DnsRecord) : undefined
}

/** The application's word against a new name, which becomes the result of the name. */
export interface NameRefusal {
  /** Any code of a result except `internal_error`. */
  code: HostnameRejection | ConflictCode
  /** A message for people, in your own words. It is sent to the caller unchanged. */
  message: string
  /**
   * A more detailed code of your own, for the result of a preview. Default: `not_allowed`. A page with sentences of its
   * own for some reasons, such as the element, shows your message unless it has a sentence for this reason.
   */
  reason?: string | undefined
  /** The DNS record with which the name would be allowed, for the result of a preview. */
  record?: DnsRecord | undefined
  /**
   * Whether the refusal may end without another call: a record or an approval is missing. With the option `waiting`,
   * `create` keeps the name, and {@link startRetrying} registers it then. Default `false`.
   */
  waits?: boolean | undefined
}

/** The application's word against a name, with the default reason filled in. */
export type GivenRefusal = NameRefusal & { readonly reason: string }

/** A name that a caller sent. */
export interface Submitted extends Name {
  /** The name as sent, for messages. Default: the canonical form. */
  readonly input?: string
  /**
   * Why the name is not allowed today. If it was registered when it was allowed, under an older suffix list or version
   * of Unicode, or before its address was reserved, its status is still `existing`.
   */
  readonly rejection?: InvalidHostname
  /**
   * The application's word against registering the name now, or that it was not asked. Default: the name may be
   * registered. If the team has registered the name before, its status is still `existing`.
   */
  readonly answer?: GivenRefusal | 'not asked' | undefined
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
  const registrableDomain = former.valid ? former.registrableDomain : baseOf(domain)
  return { domain, registrableDomain, input, rejection: hostname }
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
