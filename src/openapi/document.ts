/** A schema of JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** An Example Object of OpenAPI. */
export interface Example {
  summary?: string
  value: unknown
}

/** A Header Object of OpenAPI: a field of an answer. */
export interface Header {
  description: string
  required?: boolean
  schema: JsonSchema
  example?: unknown
}

/** A Media Type Object of OpenAPI: a body, by its schema and examples. */
export interface MediaType {
  schema: JsonSchema
  examples: Record<string, Example>
}

/** A Response Object of OpenAPI: the answer with one status. */
export interface Response {
  description: string
  headers: Record<string, Header>
  content: { 'application/json': MediaType }
}

/** An Operation Object of OpenAPI: what a method on a path does. */
export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  requestBody: { description: string; required: true; content: { 'application/json': MediaType } }
  responses: Record<string, Response>
}

/** A Security Scheme Object of OpenAPI: how a caller proves who it is. */
export interface SecurityScheme {
  type: 'http'
  scheme: 'bearer'
  bearerFormat: string
  description: string
}

/** The provider and the terms of the API. */
export interface Info {
  title: string
  /** The version of the API, not of this package. */
  version: string
  summary?: string
  description?: string
  termsOfService?: string
  contact?: { name?: string; url?: string; email?: string }
  license?: { name: string; identifier?: string; url?: string }
}

/** A Server Object of OpenAPI: where the API is served. */
export interface Server {
  /** A URL without a trailing slash, absolute or relative to that of the document. */
  url: string
  description?: string
}

/**
 * The part of an OpenAPI 3.1 document that is used here. JSON can represent it.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export interface OpenApiDocument {
  openapi: '3.1.1'
  info: Info
  servers: Server[]
  tags: { name: string; description: string }[]
  paths: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, JsonSchema>
    securitySchemes: Record<string, SecurityScheme>
  }
}
