import { invalidRequest } from '../errors/call-errors.ts'
import { classifyHostname } from '../hostname/classify.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { isAddress, isWildcard } from '../registry/name.ts'
import { MOST_AT_ONCE } from '../registry/store.ts'
import { toName } from '../registry/store-arguments.ts'
import { MAX_TEAM_ID_LENGTH } from './request.ts'

/** The parameters of a query, as texts. A framework may have made something else of them, such as a list. */
export type Query = Readonly<Record<string, unknown>>

/** The most registrations on a page. */
export const MAX_LIMIT = MOST_AT_ONCE
export const DEFAULT_LIMIT = 100

/** A validated query for a page of a list. */
export interface ListQuery {
  readonly teamId: string
  readonly limit: number
  readonly after: string | undefined
  readonly order: 'oldest' | 'newest' | undefined
  readonly domain: string | undefined
  readonly below: string | undefined
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseListQuery(query: Query, keyContext: KeyContext): ListQuery {
  const below = readHostname(query, 'below')
  if (below !== undefined && (isWildcard(below) || isAddress(below)))
    throw invalidRequest('below must be a name such as "example.com": nothing is below a wildcard or an IP address.')
  const domain = readHostname(query, 'domain')
  const order = readChoice(query, 'order', 'oldest', 'newest')
  const after = readText(query, 'after')
  if (below !== undefined && domain !== undefined)
    throw invalidRequest('domain cannot be sent with "below"; send one of them.')
  if (below !== undefined && order !== undefined)
    throw invalidRequest('order cannot be sent with "below": such a list is in the order of names.')
  return { teamId: readTeamId(query, keyContext), limit: readLimit(query), after, order, domain, below }
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseExportQuery(query: Query, keyContext: KeyContext): { teamId: string; after: string | undefined } {
  return { teamId: readTeamId(query, keyContext), after: readText(query, 'after') }
}

function readText(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalidRequest(`${name} must be sent once.`)
}

/** With a team key the parameter is ignored, whatever it is: the call acts on the key's own team. */
function readTeamId(query: Query, keyContext: KeyContext): string {
  if (keyContext.type === 'team') return keyContext.teamId
  const teamId = readText(query, 'team_id')
  if (teamId !== undefined && /^[0-9]+$/.test(teamId) && teamId.length <= MAX_TEAM_ID_LENGTH) return teamId
  throw invalidRequest(`team_id is required with an organization key: send the ID of the team, a string of digits.`)
}

function readLimit(query: Query): number {
  const text = readText(query, 'limit') ?? String(DEFAULT_LIMIT)
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw invalidRequest(`limit must be a whole number from 1 to ${MAX_LIMIT}.`)
}

function readHostname(query: Query, name: string): string | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const domain = toName(text)?.domain
  if (domain !== undefined) return domain
  const hostname = classifyHostname(text)
  throw invalidRequest(`${name} must be a hostname.${hostname.valid ? '' : ` ${hostname.message}`}`)
}

/** @throws {ApiError} 400 `invalid_request`. */
export const parseFormat = (query: Query) => readChoice(query, 'format', 'csv', 'ndjson') ?? 'csv'

function readChoice<Choice extends string>(query: Query, name: string, ...choices: Choice[]): Choice | undefined {
  const text = readText(query, name)
  const choice = choices.find(each => each === text)
  if (text === undefined || choice !== undefined) return choice
  throw invalidRequest(`${name} must be "${choices.join('" or "')}".`)
}
