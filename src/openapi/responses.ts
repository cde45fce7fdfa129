import { ApiError, type ErrorCode } from '../errors/api-error.ts'
import * as make from '../errors/call-errors.ts'
import { toMarkdownList } from './result-schemas.ts'
import { type JsonSchema, refer } from './schemas.ts'

/** A Media Type Object of OpenAPI: the schema and the examples of a body. */
export interface MediaType {
  schema: JsonSchema
  examples: Record<string, { summary?: string; value: unknown }>
}

/** A Response Object of OpenAPI: the response with a given status. */
export interface OpenApiResponse<Content = { 'application/json': MediaType }> {
  description: string
  headers: Record<string, Header>
  content: Content
}

/** A Header Object of OpenAPI. */
export interface Header {
  description: string
  required?: boolean
  schema: JsonSchema
  example?: unknown
}

type AnyResponse = OpenApiResponse<Record<string, MediaType>>

/** The facts about an operation on which its responses depend. */
export interface AnsweredOperation {
  readonly scope: string
  /** The methods that are offered on the operation's path. */
  readonly allowed: readonly string[]
  /** The message in the example for 400, and what the message means. */
  readonly fault: readonly [message: string, meaning: string]
  /** What a failed call may or may not have changed. */
  readonly failure: string
  /** The codes that the operation never returns. */
  readonly without: readonly ErrorCode[]
  readonly success: Omit<AnyResponse, 'headers'>
}

/** The handler's settings that affect its responses. */
export interface AnswerSettings {
  readonly bodyLimit: number
  readonly rateLimited: boolean
  /** Whether callers send API keys. */
  readonly knowsKeys: boolean
}

/** Each error response, and when it is returned. The compiler reports a missing code. */
const errors = (
  { scope, allowed, fault: [fault, faultMeaning], failure }: AnsweredOperation,
  { bodyLimit, knowsKeys }: AnswerSettings,
): Record<ErrorCode, readonly [ApiError, meaning: string]> => ({
  invalid_request: [make.invalidRequest(fault), `${faultMeaning} The message says where.`],
  unauthorized: knowsKeys
    ? [
        make.unauthorized({ tokenSent: true }),
        'The API key is missing, malformed, unknown, expired or revoked. Send an active key.',
      ]
    : // Only the application knows the message and the challenge of this error.
      [new ApiError('unauthorized', 'Log in first.'), 'The caller is unknown. Log in again.'],
  insufficient_scope: [make.insufficientScope(scope), `The caller lacks the scope \`${scope}\`.`],
  team_suspended: [make.teamSuspended(), 'The team is suspended.'],
  domain_limit_reached: [
    make.domainLimitReached({ maxDomains: 1, teamCount: 1, added: 1 }),
    'The call would exceed the limit of the team. Nothing was saved. Delete domains, or send fewer new ones.',
  ],
  team_not_found: [
    make.teamNotFound(),
    'The team does not exist, or belongs to another organization. Check `team_id`.',
  ],
  not_found: [make.notFound(), 'There is no operation at this path.'],
  method_not_allowed: [make.methodNotAllowed(allowed), `The method is not ${allowed.join(' or ')}.`],
  request_timeout: [
    make.requestTimeout(),
    'The body did not arrive in time, and the connection is closed. Send the call again.',
  ],
  payload_too_large: [make.payloadTooLarge(bodyLimit), `The body is larger than ${bodyLimit} bytes. Split the call.`],
  unsupported_media_type: [
    make.notDeclaredAsJson(),
    'The body is not JSON in UTF-8, or it is compressed. Send `Content-Type: application/json`.',
  ],
  too_many_requests: [
    make.tooManyRequests(42),
    'Too many calls. Send the same call again after `Retry-After` seconds.',
  ],
  internal_error: [make.internalError(), `The server failed. ${failure}`],
  domain_registration_unavailable: [
    make.notSynchronized(),
    'The domains were saved but are not yet synchronized. Send the same call again after `Retry-After` seconds.',
  ],
})

const header = (description: string, schema: JsonSchema, example: unknown): Header => ({ description, schema, example })

/** A list (RFC 9651, section 3.1) of limits, each with a name and parameters. */
const limits = (parameters: string) => ({
  type: 'string',
  pattern: '^<>(, <>)*$'.replaceAll('<>', `"([^"\\\\]|\\\\["\\\\])+"${parameters}`),
})

const headers = {
  'Cache-Control': header('The response is only for this caller.', { type: 'string', enum: ['no-store'] }, 'no-store'),
  'Content-Disposition': header(
    'The name of the file in which a browser saves the response (RFC 6266).',
    { type: 'string', pattern: '^attachment; filename="[^"]+"$' },
    'attachment; filename="domains.csv"',
  ),
  'WWW-Authenticate': header('How to authenticate (RFC 6750, section 3).', { type: 'string' }, 'Bearer'),
  Allow: header('The methods that are allowed (RFC 9110, section 10.2.1).', { type: 'string' }, 'POST'),
  'Retry-After': header('The number of seconds after which to retry.', { type: 'integer', minimum: 1 }, 42),
  'RateLimit-Policy': header(
    'The number of calls (`q`) that a caller may make in `w` seconds (draft-ietf-httpapi-ratelimit-headers-11).',
    limits(';q=[0-9]+(;w=[0-9]+)?'),
    '"default";q=100;w=60',
  ),
  RateLimit: header(
    'The number of calls (`r`) that remain for `t` seconds (draft-ietf-httpapi-ratelimit-headers-11).',
    limits(';r=[0-9]+(;t=[0-9]+)?'),
    '"default";r=99;t=60',
  ),
}

/**
 * @param answers The headers of each response that has a given status. A header is required if it is in all these
 *   responses.
 */
function describeHeaders(isLimited: boolean, answers: readonly ApiError['headers'][]): Record<string, Header> {
  const fields = answers.map(fields => ['Cache-Control', ...Object.keys(fields)])
  const names = new Set([...fields.flat(), ...(isLimited ? ['RateLimit-Policy', 'RateLimit'] : [])])
  return Object.fromEntries(
    [...names].map(name => {
      const isRequired = fields.every(ofAnswer => ofAnswer.includes(name))
      return [name, { ...headers[name as keyof typeof headers], ...(isRequired && { required: true }) }]
    }),
  )
}

/** All responses of an operation, by status. */
export function describeResponses(operation: AnsweredOperation, settings: AnswerSettings): Record<number, AnyResponse> {
  const { rateLimited } = settings
  // A path that is described exists, so it never gets 404 `not_found`.
  const without = ['not_found', ...operation.without, ...(rateLimited ? [] : ['too_many_requests'])]
  const isExport = 'text/csv' in operation.success.content
  const all = Object.entries(errors(operation, settings)).filter(([code]) => !without.includes(code))
  const responses: Record<number, AnyResponse> = {
    200: {
      ...operation.success,
      headers: describeHeaders(rateLimited, [isExport ? { 'Content-Disposition': '' } : {}]),
    },
  }
  for (const [, [{ status }]] of all) {
    const answers = all.filter(([, [error]]) => error.status === status)
    const isLimited = rateLimited && status !== 401 && status !== 405
    const fields = answers.map(([, [error]]) => error.headers)
    const examples = answers.map(([error, [{ message }]]) => [error, { value: { error, message } }])
    responses[status] = {
      description: toMarkdownList(Object.fromEntries(answers.map(([code, [, meaning]]) => [code, meaning]))),
      headers: describeHeaders(isLimited, fields),
      content: { 'application/json': { schema: refer('ErrorResponse'), examples: Object.fromEntries(examples) } },
    }
  }
  return responses
}
