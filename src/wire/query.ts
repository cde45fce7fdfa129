import { invalidRequest } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { type Rule, requireOptions } from '../options.ts'
import { toName } from '../rules/submitted.ts'
import { parse, readFields, requests } from './request-schemas.ts'

/** The parameters of a query as a framework parsed them: strings, or other values such as arrays. */
export type Query = Readonly<Record<string, unknown>>

/** The JSON body of a call. */
export interface RegisterDomainsRequest {
  /** 1 to 100 hostnames. */
  domains: string[]
  /** The ID of the team, 1 to 64 digits. Required with an organization key, and ignored with a team key. */
  team_id?: string | undefined
}

/** The parameters of an export, `GET /v1/domains/export`. */
export interface ExportDomainsQuery {
  /** The ID of the team. Required with an organization key, and ignored with a team key. */
  readonly team_id?: string | undefined
  /** Resumes after this registration: the `domainId` of the last line of an export that was cut off. */
  readonly after?: string | null | undefined
}

/** The parameters of a list, `GET /v1/domains`. An empty parameter counts as missing. */
export interface ListDomainsQuery extends Omit<ExportDomainsQuery, 'after'> {
  /** The `next` of the previous page. */
  readonly after?: string | null | undefined
  /** The length of a page, 1 to 1,000. Default 100. */
  readonly limit?: number | string | undefined
  /** The order by time of registration. Default `oldest` first. Cannot be combined with `below`. */
  readonly order?: 'oldest' | 'newest' | '' | undefined
  /** Lists only the registration of exactly this hostname. */
  readonly domain?: string | undefined
  /** Lists only registrations below this name, at any depth, sorted by name. Cannot be combined with `domain`. */
  readonly below?: string | undefined
}

/**
 * Picks the parameters that a schema has. Over HTTP, a client may send other parameters, meant for a newer or a
 * different server.
 */
export const takeParameters = (query: Query, { shape }: { shape: object }): Query =>
  Object.fromEntries(Object.keys(shape).map(name => [name, Object.hasOwn(query, name) ? query[name] : undefined]))

/**
 * Rejects unknown parameters, because a misspelled filter would list everything.
 *
 * @throws {TypeError} if a parameter is unknown; the message names it.
 */
export function requireParameters(query: object, { shape }: { shape: object }): void {
  requireOptions(query, Object.fromEntries(Object.keys(shape).map(name => [name, anything])), 'parameter', 'query')
}

const anything: Rule = { holds: () => true, expected: 'anything' }

/** A validated query for a page of a list. */
interface ListQuery {
  readonly teamId: string
  readonly limit: number
  /** Opaque: only the store can read it. */
  readonly after?: string | undefined
  readonly order?: 'oldest' | 'newest' | undefined
  readonly domain?: string | undefined
  readonly below?: string | undefined
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseListQuery(query: object, keyContext: KeyContext): ListQuery {
  const fields = readFields('list', withoutEmpty(query), keyContext)
  const [domain, below] = [fields.domain, fields.below].map(text => text && toName(text)?.domain)
  if (below !== undefined && domain !== undefined)
    throw invalidRequest('domain cannot be sent with "below"; send one of them.')
  if (below !== undefined && fields.order !== undefined)
    throw invalidRequest('order cannot be sent with "below": that list is sorted by name.')
  return { ...fields, domain, below }
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export const parseExportQuery = (query: object, keyContext: KeyContext): Pick<ListQuery, 'teamId' | 'after'> =>
  readFields('export', withoutEmpty(query), keyContext)

/** @throws {ApiError} 400 `invalid_request`. */
export const parseFormat = (query: object): 'csv' | 'ndjson' => parse(requests.exportFormat, withoutEmpty(query)).format

/** Leaves out empty parameters, which count as not sent. Turns a `limit` that is a number into a string. */
const withoutEmpty = (query: object): Query =>
  Object.fromEntries(
    Object.entries(query)
      .filter(([, value]) => value !== '' && value !== null)
      .map(([name, value]) => [name, name === 'limit' && typeof value === 'number' ? String(value) : value]),
  )
