import * as z from 'zod'

/** A schema of JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * Returns the JSON Schema of the values that a schema of zod accepts. A number in a query is a string for zod, but an
 * integer in OpenAPI.
 */
export function toJsonSchema(schema: z.ZodObject): JsonSchema & { readonly properties: Record<string, JsonSchema> } {
  const { $schema: _, additionalProperties: __, ...jsonSchema } = z.toJSONSchema(schema, { io: 'output' })
  return jsonSchema as ReturnType<typeof toJsonSchema>
}
