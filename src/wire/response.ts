import type { ErrorCode } from '../errors.ts'
import type { HostnameRejection } from '../hostname/classify.ts'

/** Why a hostname was not registered. A {@link HostnameRejection} depends on the hostname alone. */
export type InvalidCode =
  | HostnameRejection
  | 'wildcard_conflict'
  | 'subdomain_conflict'
  | 'domain_already_licensed'
  | 'internal_error'

/** The hostname is registered: by this call, or in this team before it. */
export interface RegisteredResult {
  status: 'created' | 'existing'
  /** The hostname exactly as it was submitted. */
  input: string
  /** The registered hostname in canonical form: lower case, A-labels, no trailing dot. */
  domain: string
  /** Opaque, made by the store, and the same for as long as the hostname stays registered. */
  domainId: string
}

/** The hostname was not registered. */
export interface InvalidResult {
  status: 'invalid'
  /** The hostname exactly as it was submitted. */
  input: string
  code: InvalidCode
  /** For people: what is wrong and, if that is clear, what to send instead. */
  message: string
}

/** What became of one submitted hostname. */
export type DomainResult = RegisteredResult | InvalidResult

/** How many results have each status. */
export interface Totals {
  created: number
  existing: number
  invalid: number
}

/** The body of a `200` answer. */
export interface RegisterDomainsResponse {
  data: {
    /** One for each submitted hostname, in the submitted order. */
    results: DomainResult[]
    totals: Totals
  }
}

/** The body of any other answer. */
export interface ErrorResponse {
  /** For programs: one of {@link ErrorCode}, or a code of your own. */
  error: ErrorCode | (string & {})
  /** For a person: what was wrong and what to send instead. */
  message: string
}

/**
 * Counts results by status.
 *
 * @example
 * countTotals([{ status: 'created' }, { status: 'invalid' }]) // { created: 1, existing: 0, invalid: 1 }
 */
export function countTotals(results: readonly { readonly status: keyof Totals }[]): Totals {
  const totals: Totals = { created: 0, existing: 0, invalid: 0 }
  for (const { status } of results) totals[status] += 1
  return totals
}
