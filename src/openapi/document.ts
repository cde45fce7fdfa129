import type { OperationName } from '../http/request.ts'
import type { JsonSchema, SchemaName } from './schemas.ts'

export type { JsonSchema } from './schemas.ts'

/** A Media Type Object of OpenAPI: the schema and the examples of a body. */
interface MediaType {
  schema: JsonSchema
  examples: Record<string, { summary?: string; value: unknown }>
}

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

/** A Response Object of OpenAPI: the response with a given status. */
export interface OpenApiResponse<Content = { 'application/json': MediaType }> {
  description: string
  headers: Record<string, { description: string; required?: boolean; schema: JsonSchema; example?: unknown }>
  content: Content
}

/** The request that a monitor gets, and the meanings of its responses. */
export interface Webhooks {
  'domains.changed': {
    post: Pick<Operation, 'operationId' | 'summary' | 'description' | 'tags' | 'security' | 'requestBody'> & {
      parameters: {
        name: string
        in: 'header'
        required: true
        description: string
        schema: JsonSchema
        example: string
      }[]
      /** By status or range: `2XX`. */
      responses: Record<string, Pick<OpenApiResponse, 'description'> & Partial<Pick<OpenApiResponse, 'headers'>>>
    }
  }
}

type ExportResponse = OpenApiResponse<Record<'text/csv' | 'application/x-ndjson', MediaType>>

/** The paths of the operations with these names. */
export type Paths<Path extends string, Name extends OperationName> = Record<
  Path,
  ('create' extends Name ? { post: Operation } : unknown) & ('list' extends Name ? { get: ReadOperation } : unknown)
> & {
  [Suffix in Exclude<Name, 'create' | 'list'> as `${Path}/${Suffix}`]: Suffix extends 'export'
    ? { get: ReadOperation<ExportResponse> }
    : { post: Operation }
}

/** A Security Scheme Object of OpenAPI: how a caller authenticates. */
export type SecurityScheme =
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; name: string; in: 'query' | 'header' | 'cookie'; description?: string }
  | { type: 'oauth2' | 'openIdConnect' | 'mutualTLS'; [field: string]: unknown }

/** The provider and the terms of the API. */
export interface Info {
  title: string
  /** The version of the API, not of this package. */
  version: string
  summary?: string | undefined
  description?: string | undefined
  termsOfService?: string | undefined
  contact?: { name?: string | undefined; url?: string | undefined; email?: string | undefined } | undefined
  license?: { name: string; identifier?: string | undefined; url?: string | undefined } | undefined
}

/** A Server Object of OpenAPI: where the API is served. */
export interface Server {
  /** A URL without a trailing slash, absolute or relative to the URL of the document. */
  url: string
  description?: string | undefined
}

/** The parts of an OpenAPI document that are used here (https://spec.openapis.org/oas/v3.1.1.html), as in JSON. */
export interface OpenApiDocument<Path extends string = '/v1/domains', Name extends OperationName = 'create'> {
  openapi: '3.1.1'
  info: Info
  servers: Server[]
  tags: { name: string; description: string }[]
  paths: Paths<Path, Name>
  /** Present only with the option `webhooks`. */
  webhooks?: Webhooks
  components: { schemas: Record<SchemaName, JsonSchema>; securitySchemes: Record<string, SecurityScheme> }
}
