import * as z from 'zod'
import { requests } from '../wire/requests.ts'
import * as responses from './result-schemas.ts'

/** A schema of JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

const { body } = requests
const request = body.partial({ team_id: true })

/** The schemas that the document names, as the reader meets them. */
const named = {
  RegisterDomainsRequest: request.describe('The hostnames to register. Unknown fields are ignored.'),
  RegisterDomainsResponse: responses.registerDomainsResponse,
  DomainResult: responses.domainResult,
  RegisteredResult: responses.registeredResult,
  InvalidResult: responses.invalidResult,
  Totals: responses.totals,
  PreviewDomainsRequest: request.describe('The hostnames to preview. Unknown fields are ignored.'),
  PreviewDomainsResponse: responses.previewDomainsResponse,
  PreviewResult: responses.previewResult,
  CreatablePreview: responses.creatablePreview,
  ExistingPreview: responses.existingPreview,
  InvalidPreview: responses.invalidPreview,
  DnsRecord: responses.dnsRecord,
  DeleteDomainsRequest: request.describe('The hostnames to delete. Unknown fields are ignored.'),
  DeleteDomainsResponse: responses.deleteDomainsResponse,
  DeleteResult: responses.deleteResult,
  DeletedResult: responses.deletedResult,
  MissingResult: responses.missingResult,
  InvalidDeletion: responses.invalidDeletion,
  DeleteTotals: responses.deleteTotals,
  ListDomainsResponse: responses.listDomainsResponse,
  ListedDomain: responses.listedDomain,
  ListWaitingResponse: responses.listWaitingResponse,
  WaitingDomain: responses.waitingDomain,
  DomainsChanged: responses.domainsChanged,
  DomainChange: responses.domainChange,
  ErrorResponse: responses.errorResponse,
} as const satisfies Record<string, z.ZodType>

export type SchemaName = keyof typeof named
/** The components of a document. */
export type Schemas = Record<SchemaName, JsonSchema>

const toUri = (name: string): string => `#/components/schemas/${name}`
export const refer = (name: SchemaName) => ({ $ref: toUri(name) })

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })

const made = z.toJSONSchema(registry, {
  io: 'input',
  uri: toUri,
  override({ zodSchema, jsonSchema }) {
    if (zodSchema instanceof z.ZodDiscriminatedUnion) jsonSchema.discriminator = toDiscriminator(zodSchema)
  },
})

/** The components of the document, made from the schemas that check requests, and from those of the responses. */
const schemas = Object.fromEntries(
  Object.entries<JsonSchema>(made.schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
) as Schemas

/** Tells generators of clients which schema a result has, by its status. */
function toDiscriminator({ options }: z.ZodDiscriminatedUnion) {
  const entries = (options as z.ZodObject<{ status: z.ZodEnum }>[]).flatMap(option =>
    option.shape.status.options.map(status => [status, toUri(registry.get(option)?.id ?? '')]),
  )
  return { propertyName: 'status', mapping: Object.fromEntries(entries) as Record<string, string> }
}

/**
 * Returns only the components to which the operations refer, directly or indirectly. A linter would warn of unused
 * schemas.
 */
export function findUsedSchemas(operations: object): Schemas {
  const used = new Set<string>()
  const collect = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      collect(schemas[name as SchemaName])
    }
  }
  collect(operations)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))) as Schemas
}
