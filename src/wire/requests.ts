import * as z from 'zod'
import { invalidRequest } from '../errors/call-errors.ts'
import type { InvalidHostname } from '../hostname/classify.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { type Rule, requireOptions } from '../options.ts'
import { isAddress, isWildcard, type Name } from '../rules/name.ts'
import { isName, readSubmitted, toName } from '../rules/submitted.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'

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
export interface ListDomainsQuery extends ExportDomainsQuery {
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

/** The parameters of `GET /v1/domains/waiting`. */
export type ListWaitingQuery = Pick<ExportDomainsQuery, 'team_id'>

/** The maximum number of hostnames in one call. */
export const MAX_DOMAINS = 100

/** The maximum number of digits in a team ID. Any 128-bit number fits, and so does the integer key of any database. */
const MAX_TEAM_ID_LENGTH = 64

const DEFAULT_LIMIT = 100

/** The maximum number of characters in a cursor. The store that created the cursor checks its content. */
const MAX_CURSOR_LENGTH = 512

// Each error message completes a sentence that begins with the path of the field.

const TEAM_ID = `must be the ID of a team, a string of 1 to ${MAX_TEAM_ID_LENGTH} digits; \
an organization key requires it.`
const teamId = z
  .string(TEAM_ID)
  .max(MAX_TEAM_ID_LENGTH, TEAM_ID)
  .regex(/^[0-9]+$/, TEAM_ID)
  .describe('The ID of the team: required from a caller of an organization, ignored from a caller of a team.')

const domains = z
  .array(z.string('must be a string.'), `must be an array of 1 to ${MAX_DOMAINS} hostnames.`)
  .min(1, 'must contain at least one hostname.')
  .max(MAX_DOMAINS, `must contain at most ${MAX_DOMAINS} hostnames; split a longer list into several calls.`)
  .describe(
    'Hostnames: names such as `www.example.com`, wildcards such as `*.example.com`, and public IP addresses. ' +
      'International names may be in Unicode. Each hostname gets its own result.',
  )

/** A query parameter that was sent twice is an array. */
const SENT_TWICE = 'must be sent once.'
const parameter = z.string(SENT_TWICE)

const choice = <const Value extends string>(...values: readonly Value[]) =>
  z.enum(values, {
    error: ({ input }) => (typeof input === 'string' ? `must be "${values.join('" or "')}".` : SENT_TWICE),
  })

const hostname = parameter.refine(text => isName(readSubmitted(text)), {
  error: ({ input }) => `must be a hostname. ${(readSubmitted(input as string) as InvalidHostname).message}`,
  abort: true,
})

function mayHaveNamesBelow(text: string): boolean {
  const { domain } = toName(text) as Name
  return !isWildcard(domain) && !isAddress(domain)
}

const LIMIT = `must be an integer from 1 to ${MOST_AT_ONCE}.`
/** What `after` must be, in the message of an error. */
export const expectedAfter = {
  list: 'must be the "next" of the previous page.',
  export: 'must be the "domainId" of the last complete line that arrived.',
}
const after = (name: keyof typeof expectedAfter) => parameter.max(MAX_CURSOR_LENGTH, expectedAfter[name]).optional()

/** The fields of each request, in the order in which they are checked. Other fields are ignored. */
export const requests = {
  body: z.object(
    {
      domains,
      team_id: teamId,
    },
    'The request body must be a JSON object with the field "domains".',
  ),
  list: z.object({
    below: hostname
      .refine(mayHaveNamesBelow, 'must be a name such as "example.com": nothing is below a wildcard or an IP address.')
      .optional()
      .describe('Only registrations below this name, at any depth. Cannot be combined with `domain`.'),
    domain: hostname.optional().describe('Only the registration of exactly this hostname.'),
    order: choice('oldest', 'newest').optional().meta({
      description: 'The order, by time of registration. Cannot be combined with `below`, which sorts by name.',
      default: 'oldest',
    }),
    after: after('list').describe('The `next` of the previous page.'),
    team_id: teamId,
    limit: parameter
      .regex(/^\d+$/, LIMIT)
      .transform(Number)
      .pipe(z.int().min(1, LIMIT).max(MOST_AT_ONCE, LIMIT))
      .default(DEFAULT_LIMIT)
      .describe('The maximum number of registrations on a page.'),
  }),
  export: z.object({
    after: after('export').describe('The `domainId` of the last complete line that arrived.'),
    team_id: teamId,
  }),
  waiting: z.object({ team_id: teamId }),
  exportFormat: z.object({
    format: choice('csv', 'ndjson').default('csv').describe('CSV (RFC 4180), or one JSON object on each line.'),
  }),
}

const { body, list, export: exported, waiting } = requests

/** The same with a team key, which always acts on its own team: `team_id` is ignored, even if it is invalid. */
export const teamRequests = {
  body: body.omit({ team_id: true }),
  list: list.omit({ team_id: true }),
  export: exported.omit({ team_id: true }),
  waiting: waiting.omit({ team_id: true }),
}

/**
 * Rejects unknown parameters, because a misspelled filter would list everything.
 *
 * @throws {TypeError} if a parameter is unknown; the message names it.
 */
export function requireParameters(query: object, { shape }: { shape: object }): void {
  requireOptions(query, Object.fromEntries(Object.keys(shape).map(name => [name, anything])), 'parameter', 'query')
}

const anything: Rule = { holds: () => true, expected: 'anything' }

type Request = keyof typeof teamRequests
type Fields<Name extends Request> = z.output<(typeof teamRequests)[Name]> & { readonly teamId: string }

/**
 * Reads the fields of a body or of a query. The team is the one in the request or, with a team key, the owner of the
 * key.
 *
 * @throws {ApiError} 400 `invalid_request`. The message names the path of the first error, such as `domains[3]`, and
 *   does not repeat the value.
 */
export function readFields<Name extends Request>(name: Name, sent: unknown, keyContext: KeyContext): Fields<Name> {
  const isTeam = keyContext.type === 'team'
  const { team_id, ...fields } = readBySchema(isTeam ? teamRequests[name] : requests[name], sent) as Record<
    string,
    unknown
  >
  return { ...fields, teamId: isTeam ? keyContext.teamId : team_id } as Fields<Name>
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export function parseListQuery(query: Query, keyContext: KeyContext): Fields<'list'> {
  const fields = readFields('list', takeParameters(query, requests.list), keyContext)
  const [domain, below] = [fields.domain, fields.below].map(text => text && toName(text)?.domain)
  if (below !== undefined && domain !== undefined)
    throw invalidRequest('domain cannot be sent with "below"; send one of them.')
  if (below !== undefined && fields.order !== undefined)
    throw invalidRequest('order cannot be sent with "below": that list is sorted by name.')
  return { ...fields, domain, below }
}

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export const parseExportQuery = (query: Query, keyContext: KeyContext): Fields<'export'> =>
  readFields('export', takeParameters(query, requests.export), keyContext)

/** @throws {ApiError} 400 `invalid_request`. The message names the parameter. */
export const parseWaitingQuery = (query: Query, keyContext: KeyContext): Fields<'waiting'> =>
  readFields('waiting', takeParameters(query, requests.waiting), keyContext)

/** @throws {ApiError} 400 `invalid_request`. */
export const parseFormat = (query: Query): 'csv' | 'ndjson' =>
  readBySchema(requests.exportFormat, takeParameters(query, requests.exportFormat)).format

/**
 * Picks the parameters that a request has: over HTTP, a client may send others, meant for a newer or a different
 * server. Empty parameters count as not sent. Turns a `limit` that is a number into a string.
 */
const takeParameters = (query: Query, { shape }: { shape: object }): Query =>
  Object.fromEntries(
    Object.keys(shape).map(name => {
      const value = Object.hasOwn(query, name) ? query[name] : undefined
      if (value === '' || value === null) return [name, undefined]
      return [name, name === 'limit' && typeof value === 'number' ? String(value) : value]
    }),
  )

/** @throws {ApiError} as for {@link readFields}. */
function readBySchema<Schema extends z.ZodType>(schema: Schema, sent: unknown): z.output<Schema> {
  let result: z.ZodSafeParseResult<z.output<Schema>>
  try {
    result = schema.safeParse(sent)
  } catch (cause) {
    // The value is not plain data: for instance, one of its getters throws.
    throw invalidRequest('The request could not be read.', cause)
  }
  if (result.success) return result.data
  const [{ path, message }] = result.error.issues as [z.core.$ZodIssue]
  throw invalidRequest(`${path.map((key, at) => (at ? `[${String(key)}]` : String(key))).join('')} ${message}`.trim())
}
