import type { ErrorCode } from '../errors/api-error.ts'
import type { HostnameRejection, InvalidHostname } from '../hostname/classify.ts'
import type { HostnameReason } from '../hostname/mistakes/mistake.ts'
import type { Verdict } from '../rules/overlap.ts'
import type { Registration } from '../rules/registration.ts'
import type { ConflictCode, DnsRecord } from '../rules/submitted.ts'
import type { WaitingName } from '../store/waiting.ts'

/** Why a hostname was not registered. The codes of {@link HostnameRejection} depend only on the hostname. */
export type InvalidCode = HostnameRejection | ConflictCode | 'internal_error'

/** The meaning of each code of a hostname. The compiler reports a missing code. */
export const rejections: Readonly<Record<HostnameRejection, string>> = {
  empty_domain: 'Empty, or only white space.',
  invalid_domain: 'The input is not a hostname, or is a public IP address in an unusual spelling.',
  public_suffix_domain: 'A public suffix such as `co.uk`, or a wildcard over one.',
  internal_domain: 'Not in the public DNS.',
  reserved_ip: 'An IP address that is not public, in any spelling.',
}
/** Likewise, of every code of a result. */
export const invalidCodes: Readonly<Record<InvalidCode, string>> = {
  ...rejections,
  wildcard_conflict: 'A wildcard of the same team already covers the hostname.',
  subdomain_conflict: 'The wildcard would cover hostnames that the same team has registered.',
  domain_already_licensed: 'The hostname overlaps with a registration of another team.',
  internal_error: 'This hostname may not have been saved, although others were. Send it again later.',
}

/** The hostname is registered: by this call, or earlier by the same team. */
export interface RegisteredResult {
  status: 'created' | 'existing'
  /** The hostname exactly as it was submitted. */
  input: string
  /** The registered hostname in canonical form: lower case, A-labels, no trailing dot. */
  domain: string
  /** Opaque, created by the store, and unchanged as long as the hostname stays registered. */
  domainId: string
}

/** The hostname was not registered. */
export interface InvalidResult {
  status: 'invalid'
  /** The hostname exactly as it was submitted. */
  input: string
  code: InvalidCode
  /** A message for people: what is wrong and, if that is clear, what to send instead. */
  message: string
}

/** The result of one submitted hostname. */
export type DomainResult = RegisteredResult | InvalidResult

/** How many results have each status. */
export interface Totals {
  created: number
  existing: number
  invalid: number
}

/** The body of a `200` response. */
export interface RegisterDomainsResponse {
  data: {
    /** One result for each submitted hostname, in the submitted order. */
    results: DomainResult[]
    totals: Totals
  }
}

/** The result of one hostname in a call of {@link previewDomains}. */
export type PreviewResult =
  | { status: 'created'; input: string; domain: string }
  /** `domainId` is missing if an earlier hostname of the same call would create the registration. */
  | { status: 'existing'; input: string; domain: string; domainId?: string }
  | InvalidPreview

/** A hostname that would not be registered, with more details than the result of registering it would have. */
export interface InvalidPreview extends InvalidResult, Omit<InvalidHostname, 'valid' | 'code' | 'reason' | 'message'> {
  /**
   * A more detailed code, so you can write your own messages, reworded or translated; see `docs/reasons.md`. Your
   * server's own `checkNames` may return other reasons.
   */
  reason: HostnameReason | ConflictCode | (string & {})
  /** The hostname in canonical form, if it conflicts only with registrations of the same team. */
  domain?: string | undefined
  /** The DNS record to add, if your server wants one for this name. */
  record?: DnsRecord | undefined
  /** `true` if registering the name would keep it, and your server would try again by itself. */
  waits?: boolean | undefined
  /** The conflicting registrations of the same team, in canonical form, at most three. */
  conflicts?: readonly string[]
  /** How many conflicting registrations there are. If this is 1,000 or more, the real number may be larger. */
  count?: number
}

/** The body of a preview's `200` response. */
export interface PreviewDomainsResponse {
  data: {
    results: PreviewResult[]
    totals: Totals
    /**
     * How many more hostnames the team may register; below 0 if it has more than its limit, `null` if it has no limit.
     * A call that would register more of them is rejected as a whole.
     */
    room: number | null
  }
}

/** The result of one hostname to delete. */
export type DeleteResult =
  | { status: 'deleted'; input: string; domain: string; domainId: string }
  /** This team has not registered the hostname, but another team may have registered it. */
  | {
      status: 'missing'
      input: string
      /** `true` if the hostname waited to be registered. It no longer does. */
      waited?: boolean
    }
  | { status: 'invalid'; input: string; code: HostnameRejection; message: string }

/** The body of a deletion's `200` response. */
export interface DeleteDomainsResponse {
  data: { results: DeleteResult[]; totals: { deleted: number; missing: number; invalid: number } }
}

/** A registration in a list or an export. */
export interface ListedDomain {
  domain: string
  domainId: string
  /** In the format of `Date.prototype.toISOString`: `2026-11-22T10:00:00.000Z`. */
  createdAt: string
}

/** The body of a list's `200` response. */
export interface ListDomainsResponse {
  data: {
    domains: ListedDomain[]
    /** Send this value as `after` to get the next page. `null` on the last page. */
    next: string | null
    /** Over HTTP, the operations that the caller may use: those that are enabled and in its scopes. */
    operations?: readonly string[]
  }
}

/** A hostname that waits to be registered. */
export interface WaitingDomain {
  domain: string
  /** When the team first asked for it. All times are in the format of `Date.prototype.toISOString`. */
  since: string
  /** After the first try from this time on, it waits no longer. */
  until: string
  lastTried: string
  nextTry: string
  /** Why it is not registered yet; the same fields as in a preview. */
  code: InvalidCode
  reason: string
  message: string
  record?: DnsRecord | undefined
}

/** The body of the `200` response to `GET /v1/domains/waiting`. */
export interface ListWaitingResponse {
  data: { domains: WaitingDomain[] }
}

export const toWaitingDomain = ({ domain, refusal, ...name }: WaitingName): WaitingDomain => ({
  domain,
  since: name.since.toISOString(),
  until: name.until.toISOString(),
  lastTried: name.lastTried.toISOString(),
  nextTry: name.nextTry.toISOString(),
  ...refusal,
})

export const toListedDomain = ({ domain, domainId, createdAt }: Registration): ListedDomain => ({
  domain,
  domainId,
  createdAt: createdAt.toISOString(),
})

/** The body of a response with any other status. */
export interface ErrorResponse {
  /** For programs: one of {@link ErrorCode}, or a code of your own. */
  error: ErrorCode | (string & {})
  /** A message for people: what was wrong and what to send instead. */
  message: string
}

/**
 * Counts results by status.
 *
 * @example
 * countTotals([{ status: 'created' }, { status: 'invalid' }]) // { created: 1, existing: 0, invalid: 1 }
 */
export function countTotals(results: readonly { readonly status: keyof Totals }[]): Totals {
  return count({ created: 0, existing: 0, invalid: 0 }, results)
}

type DeleteTotals = DeleteDomainsResponse['data']['totals']

/** Counts the results of a deletion by status. */
export const countDeleted = (results: readonly { readonly status: keyof DeleteTotals }[]): DeleteTotals =>
  count({ deleted: 0, missing: 0, invalid: 0 }, results)

function count<Status extends string>(
  totals: Record<Status, number>,
  results: readonly { readonly status: Status }[],
): Record<Status, number> {
  for (const { status } of results) totals[status] += 1
  return totals
}

/** Creates the result of a hostname that registering would reject. */
export function toInvalidPreview(
  input: string,
  rejected: InvalidHostname | Extract<Verdict, { status: 'invalid' }>,
): InvalidPreview {
  const { valid: _, ...result } = { valid: false, ...rejected }
  return { ...result, status: 'invalid', input }
}

/** Creates the result of a hostname that was rejected. */
export const toInvalidResult = <Code>(
  input: string,
  { code, message }: { readonly code: Code; readonly message: string },
) => ({ status: 'invalid' as const, input, code, message })
