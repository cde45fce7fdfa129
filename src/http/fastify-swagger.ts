import { type OpenApiDocument, type OpenApiOptions, openapi } from '../openapi/index.ts'
import { apiKeys } from '../openapi/security.ts'
import { type HandlerSettings, withoutTrailingSlash } from './options.ts'
import type { OperationName } from './request.ts'
import { operations } from './routes.ts'

/** The plugin's options that affect the document. */
type DescribedOptions = Pick<HandlerSettings, 'keyPrefix' | 'bodyLimit' | 'rateLimiter' | 'operations'> &
  Pick<OpenApiOptions, 'security' | 'securitySchemes'> & { readonly keys?: unknown }

/**
 * The argument that `@fastify/swagger` passes to the transformation of a route. `openapiObject` is missing if
 * `@fastify/swagger` generates a Swagger 2 document.
 */
interface Transformation {
  readonly url: string
  readonly openapiObject?: {
    tags?: readonly { readonly name: string }[]
    paths: Record<string, object>
    components: { schemas: Record<string, unknown>; securitySchemes?: Record<string, unknown> }
  }
}

/**
 * Creates a route's `swaggerTransform`, which copies the operation from our document to the document of
 * `@fastify/swagger`. The route itself is hidden, because `@fastify/swagger` would describe the route without our
 * components and examples.
 */
export function describeForSwagger(name: OperationName, options: DescribedOptions) {
  const method = operations[name].method.toLowerCase()
  return ({ url, openapiObject: yours }: Transformation) => {
    if (yours) {
      const path = withoutTrailingSlash(url) || '/'
      const ours = withoutTakenNames(describeOperation(name, path, options), yours.components.schemas)
      const described: { responses?: Record<number, unknown> } = { ...ours.paths[path]?.[method as 'post'] }
      // In Fastify, the plugin never returns 405, because it does not respond to other methods.
      delete described.responses?.[405]
      yours.paths[path] = { ...yours.paths[path], [method]: described }
      yours.tags = [...(yours.tags ?? []).filter(({ name }) => ours.tags.every(tag => tag.name !== name)), ...ours.tags]
      Object.assign(yours.components.schemas, ours.components.schemas)
      yours.components.securitySchemes = { ...ours.components.securitySchemes, ...yours.components.securitySchemes }
    }
    return { schema: { hide: true }, url }
  }
}

function describeOperation(
  name: OperationName,
  path: string,
  { keyPrefix, bodyLimit, rateLimiter, keys, operations: offered, ...options }: DescribedOptions,
): OpenApiDocument<string> {
  const { security = keys ? undefined : [] } = options
  const { securitySchemes = security ? undefined : apiKeys(keyPrefix, offered) } = options
  return openapi<string, OperationName>({
    path: path.slice(0, path.length - operations[name].suffix.length) || '/',
    operations: [name],
    keyPrefix,
    bodyLimit,
    rateLimited: rateLimiter !== undefined,
    security,
    securitySchemes,
  })
}

const SCHEMAS = '#/components/schemas/'

/** Renames a schema of this package if the application has a schema with the same name. */
function withoutTakenNames(
  document: OpenApiDocument<string>,
  yours: Readonly<Record<string, unknown>>,
): OpenApiDocument<string> {
  const { schemas } = document.components
  const isTaken = (name: string, schema: unknown) =>
    Object.hasOwn(yours, name) && JSON.stringify(yours[name]) !== JSON.stringify(schema)
  const names = new Map(
    Object.entries(schemas).map(([name, schema]) => [name, isTaken(name, schema) ? `Domains${name}` : name]),
  )

  function rename(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(rename)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(
      Object.entries(part).map(([key, value]) => [key, key === '$ref' ? refer(value) : rename(value)]),
    )
  }
  const refer = (reference: string) => `${SCHEMAS}${names.get(reference.slice(SCHEMAS.length))}`

  const renamed = rename(document) as typeof document
  const entries = Object.entries(renamed.components.schemas).map(([name, schema]) => [names.get(name), schema])
  return { ...renamed, components: { ...renamed.components, schemas: Object.fromEntries(entries) } }
}
