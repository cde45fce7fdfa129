import { invalidRequest } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { DEFAULT_LIMIT, readFields, requestFields } from './fields.ts'

/** The parameters of a query, as texts. A framework may have made something else of them, such as a list. */
export type Query = Readonly<Record<string, unknown>>

/** A validated query for a page of a list. */
export interface ListQuery {
  readonly teamId: string
  readonly limit: number
  /** Opaque: the store judges it. */
  readonly after: string | undefined
  readonly order: 'oldest' | 'newest' | undefined
  readonly domain: string | undefined
  readonly below: string | undefined
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseListQuery(query: Query, keyContext: KeyContext): ListQuery {
  const fields = readFields(withoutEmpty(query), requestFields.list, keyContext)
  const { team_id: teamId, limit = DEFAULT_LIMIT, ...page } = fields
  if (page.below !== undefined && page.domain !== undefined)
    throw invalidRequest('domain cannot be sent with "below"; send one of them.')
  if (page.below !== undefined && page.order !== undefined)
    throw invalidRequest('order cannot be sent with "below": such a list is in the order of names.')
  return { teamId, limit, ...page }
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseExportQuery(query: Query, keyContext: KeyContext): Pick<ListQuery, 'teamId' | 'after'> {
  const { after, team_id: teamId } = readFields(withoutEmpty(query), requestFields.export, keyContext)
  return { after, teamId }
}

/** @throws {ApiError} 400 `invalid_request`. */
export const parseFormat = (query: Query, keyContext: KeyContext): 'csv' | 'ndjson' =>
  readFields(withoutEmpty(query), requestFields.exportFormat, keyContext).format ?? 'csv'

/** A parameter that is empty counts as one that was not sent. */
const withoutEmpty = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '' && value !== null))
