import * as z from 'zod'
import type { ErrorCode } from '../errors/api-error.ts'
import { withoutTrailingSlash } from '../http/options.ts'
import type { OperationName } from '../http/request.ts'
import { operations } from '../http/routes.ts'
import { expectedAfter, MAX_DOMAINS, requests } from '../wire/requests.ts'
import {
  type AnsweredOperation,
  type AnswerSettings,
  describeResponses,
  type MediaType,
  type OpenApiResponse,
} from './responses.ts'
import { type JsonSchema, refer, type SchemaName } from './schemas.ts'

/** An Operation Object of OpenAPI: the description of a method on a path. */
interface OperationObject<Success> {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  /** 429 is returned only with a rate limiter, and 405 only by a server that routes other methods to the handler. */
  responses: Record<200, Success> &
    Record<400 | 401 | 403 | 404 | 500, OpenApiResponse> &
    Partial<Record<405 | 408 | 413 | 415 | 429 | 503, OpenApiResponse>>
}

/** The description of `POST` on a path. */
export interface Operation extends OperationObject<OpenApiResponse> {
  requestBody: { description: string; required: true; content: { 'application/json': MediaType } }
}

/** The description of `GET` on a path. */
export interface ReadOperation<Success = OpenApiResponse> extends OperationObject<Success> {
  parameters: { name: string; in: 'query'; description: string; schema: JsonSchema }[]
}

type ExportResponse = OpenApiResponse<Record<'text/csv' | 'application/x-ndjson', MediaType>>

/** The paths of the operations with these names. */
export type Paths<Path extends string, Name extends OperationName> = Record<
  Path,
  ('create' extends Name ? { post: Operation } : unknown) & ('list' extends Name ? { get: ReadOperation } : unknown)
> & {
  [Suffix in Exclude<Name, 'create' | 'list'> as `${Path}/${Suffix}`]: Suffix extends 'export'
    ? { get: ReadOperation<ExportResponse> }
    : Suffix extends 'waiting'
      ? { get: ReadOperation }
      : { post: Operation }
}

/** The description of an operation, without its method, path and error responses. */
interface Description extends Pick<AnsweredOperation, 'success'> {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** The schema of the body of a POST. */
  readonly body?: SchemaName
  /** The schemas of the parameters of a GET. */
  readonly parameters?: readonly z.ZodObject[]
  /** What a failed call may or may not have changed. */
  readonly failure?: string
}

const domains = ['www.example.com', '*.example.org', 'localhost']
const ids = ['01a1fdc4-24dc-7291-9bdf-caca67ce70da', '01a1fdc4-24dc-7292-b189-85cd429aab1c']
const internal = {
  status: 'invalid',
  input: 'localhost',
  code: 'internal_domain',
  message: '"localhost" is reserved and not in the public DNS.',
}
const named = (status: string, isNew = false) =>
  ids.map((domainId, index) => {
    const domain = domains[index]
    return { status, input: domain, domain, ...(!isNew && { domainId }) }
  })
const example = (
  summary: string,
  results: readonly object[],
  totals: object,
  invalid: object = internal,
  more = {},
) => ({
  summary,
  value: { data: { results: [...results, invalid], totals: { ...totals, invalid: 1 }, ...more } },
})
/** The same result in a preview, which adds the reason. */
const explained = { ...internal, reason: 'reserved_name', topLevel: 'localhost', source: 'RFC 6761' }
type Examples = Record<string, { summary: string; value: object }>
const json = (description: string, schema: SchemaName, examples: Examples) => ({
  description,
  content: { 'application/json': { schema: refer(schema), examples } },
})
const results = (schema: SchemaName, examples: Examples) =>
  json(
    'One result for each submitted hostname, in the submitted order, even if every result is `invalid`.',
    schema,
    examples,
  )
const createdAt = ['2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z']
const listed = ids.map((domainId, index) => ({ domain: domains[index], domainId, createdAt: createdAt[index] }))
const pageOf = (registrations: typeof listed, next: string | null | undefined) => ({
  data: { domains: registrations, next, operations: ['create', 'preview', 'delete', 'list', 'export'] },
})
const text = (summary: string, lines: readonly string[]) => ({
  schema: { type: 'string' },
  examples: { lines: { summary, value: lines.join('') } },
})

const descriptions: Readonly<Record<OperationName, Description>> = {
  create: {
    operationId: 'registerDomains',
    summary: 'Register hostnames for a team',
    description: `Registers 1 to ${MAX_DOMAINS} hostnames for one team. \
Each hostname gets its own result, so an invalid one does not make the others fail.`,
    body: 'RegisterDomainsRequest',
    failure: 'The names may or may not have been registered. Send the same call again: that is safe.',
    success: results('RegisterDomainsResponse', {
      created: example('Two hostnames registered, one rejected', named('created'), { created: 2, existing: 0 }),
      existing: example('The same call again', named('existing'), { created: 0, existing: 2 }),
    }),
  },
  preview: {
    operationId: 'previewDomains',
    summary: 'Preview the results of registering',
    description: `Returns the results that registering would return now, and changes nothing. \
Another call may change these results before the hostnames are registered. If more hostnames are \`created\` than \
\`room\` allows, registering them fails with \`domain_limit_reached\`.`,
    body: 'PreviewDomainsRequest',
    success: results('PreviewDomainsResponse', {
      created: example(
        'Two hostnames that can be registered',
        named('created', true),
        { created: 2, existing: 0 },
        explained,
        { room: null },
      ),
      existing: example(
        'Two hostnames that are already registered',
        named('existing'),
        { created: 0, existing: 2 },
        explained,
        { room: null },
      ),
    }),
  },
  delete: {
    operationId: 'deleteDomains',
    summary: 'Delete registrations of a team',
    description: `Deletes 1 to ${MAX_DOMAINS} registrations of one team. A wildcard deletes only itself. \
If the same call is sent again, the results are \`missing\`.`,
    body: 'DeleteDomainsRequest',
    failure: 'Either everything was deleted, or nothing. Send the same call again: that is safe.',
    success: results('DeleteDomainsResponse', {
      deleted: example('Two registrations deleted, one hostname rejected', named('deleted'), {
        deleted: 2,
        missing: 0,
      }),
      missing: example(
        'The same call again',
        domains.slice(0, 2).map(input => ({ status: 'missing', input })),
        { deleted: 0, missing: 2 },
      ),
    }),
  },
  list: {
    operationId: 'listDomains',
    summary: 'List registrations of a team',
    description: 'Lists the registrations of one team page by page, even if the team is suspended.',
    parameters: [requests.list],
    success: json('A page of registrations.', 'ListDomainsResponse', {
      page: { summary: 'A page that is not the last one', value: pageOf(listed, ids[1]) },
      last: { summary: 'The last page', value: pageOf([], null) },
    }),
  },
  waiting: {
    operationId: 'listWaitingDomains',
    summary: 'List the hostnames of a team that wait to be registered',
    description: `Lists the hostnames of one team that could not be registered yet, in the order of their names. The \
server tries them again by itself. Nothing is reserved: another team may register them first.`,
    parameters: [requests.waiting],
    success: json('The hostnames that wait.', 'ListWaitingResponse', {
      none: { summary: 'No hostname waits', value: { data: { domains: [] } } },
    }),
  },
  export: {
    operationId: 'exportDomains',
    summary: 'Export all registrations of a team',
    description: `Exports all registrations of one team in the order of registration, even if the team is suspended. \
The response is CSV unless \`format=ndjson\` is sent, whatever \`Accept\` says. \
If the response is cut off, resume with the \`domainId\` of the last complete line as \`after\`. \
Use this only to resume, not to follow changes: the ID of a later registration may sort before an exported one.`,
    parameters: [requests.export, requests.exportFormat],
    success: {
      description: 'One line for each registration.',
      content: {
        'text/csv': text('A header line and two registrations', [
          'domain,domainId,createdAt\r\n',
          ...listed.map(each => `${Object.values(each).join(',')}\r\n`),
        ]),
        'application/x-ndjson': text(
          'Two registrations',
          listed.map(each => `${JSON.stringify(each)}\n`),
        ),
      },
    },
  },
}

const requestBody = (schema: SchemaName, bodyLimit: number) => ({
  description: `JSON in UTF-8, not compressed, of at most ${bodyLimit} bytes.`,
  required: true,
  content: {
    'application/json': {
      schema: refer(schema),
      examples: {
        organization: { summary: 'As a caller of an organization', value: { team_id: '1', domains } },
        team: { summary: 'As a caller of a team', value: { domains } },
      },
    },
  },
})

interface PathSettings extends AnswerSettings {
  readonly security: Record<string, string[]>[]
}

/** The codes that a GET never returns, because it has no body and changes nothing. */
const changing = ['request_timeout', 'payload_too_large', 'unsupported_media_type', 'team_suspended'] as const

/** Describes the operations that are offered, by path and method. */
export function describePaths(path: string, offered: readonly OperationName[], settings: PathSettings) {
  const paths: Record<string, Record<string, object>> = {}
  for (const name of offered) {
    const { method, suffix, scope } = operations[name]
    const {
      body,
      parameters = [],
      success,
      failure = 'Send the same call again.',
      description,
      ...about
    } = descriptions[name]
    const allowed = offered.filter(other => operations[other].suffix === suffix).map(other => operations[other].method)
    const isRead = method === 'GET'
    const fault = isRead
      ? ([`after ${expectedAfter[name === 'export' ? 'export' : 'list']}`, 'A parameter is wrong.'] as const)
      : (['domains must contain at least one hostname.', 'The body is malformed.'] as const)
    const without: readonly ErrorCode[] = [
      ...(name === 'create' ? [] : (['domain_registration_unavailable', 'domain_limit_reached'] as const)),
      ...(isRead ? changing : []),
    ]
    const ours = suffix === '' ? path : `${withoutTrailingSlash(path)}${suffix}`
    paths[ours] = {
      ...paths[ours],
      [method.toLowerCase()]: {
        ...about,
        description: `${description}\n\nRequires the scope \`${scope}\`. A caller of an organization must send \
\`team_id\`. A caller of a team acts for that team.`,
        tags: ['Domains'],
        ...(body ? { requestBody: requestBody(body, settings.bodyLimit) } : { parameters: toParameters(parameters) }),
        security: settings.security,
        responses: describeResponses({ scope, allowed, fault, failure, without, success }, settings),
      },
    }
  }
  return paths
}

/** A number in a query is a string for zod, but an integer in OpenAPI: the schema's output. */
const toParameters = (parameters: NonNullable<Description['parameters']>) =>
  parameters
    .flatMap(schema => Object.entries(z.toJSONSchema(schema, { io: 'output' }).properties ?? {}))
    .map(([name, property]) => {
      const { description, ...schema } = property as z.core.JSONSchema.JSONSchema
      return { name, in: 'query', description, schema }
    })
