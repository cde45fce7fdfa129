import type { JsonSchema } from './document.ts'
import { type OpenApiOptions, openapi } from './openapi.ts'
import { referenceTo } from './schemas.ts'

/**
 * Describes the operation as the schema of a route, for a plugin that documents all routes, such as `@fastify/swagger`.
 * References are inlined, because the host's document has other components.
 */
export function describeRoute(options: Pick<OpenApiOptions, 'keyPrefix' | 'bodyLimit' | 'rateLimited'>) {
  const { paths, components } = openapi({ ...options, path: '/' })
  const operation = paths['/']?.post
  if (!operation) throw new Error('The document does not describe the operation')
  const { requestBody, responses, ...description } = operation
  return {
    ...description,
    consumes: ['application/json'],
    body: inline(requestBody.content['application/json'].schema, components.schemas) as JsonSchema,
    response: inline(responses, components.schemas) as typeof responses,
  }
}

function inline(value: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map(item => inline(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const referred = Object.entries(schemas).find(([id]) => '$ref' in value && value.$ref === referenceTo(id))
  if (referred) return inline(referred[1], schemas)
  return Object.fromEntries(
    Object.entries(value)
      // A discriminator maps values to references, and there are none.
      .filter(([keyword]) => keyword !== 'discriminator')
      .map(([keyword, item]) => [keyword, inline(item, schemas)]),
  )
}
