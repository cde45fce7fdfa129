import * as z from 'zod/mini'
import type { ErrorCode } from '../errors.ts'
import { requestSchemas } from '../wire/request.ts'
import type { JsonSchema } from './document.ts'
import { exampleOf, invalidCodeNames, invalidCodes } from './invalid-codes.ts'
import {
  domainResultSchema,
  invalidResultSchema,
  registeredResultSchema,
  responseSchema,
  totalsSchema,
} from './response-schemas.ts'

interface Documentation {
  [keyword: string]: unknown
  /** The name of a schema among the components. */
  id?: string
  description?: string
  examples?: unknown[]
}

const input = { description: 'The hostname exactly as it was submitted.', examples: ['www.example.com'] }
const domainsDescription = {
  description:
    'Hostnames: names such as `www.example.com`, wildcards such as `*.example.com`, and public IP addresses. ' +
    'International names may be in Unicode. Each gets its own result.',
}

/** Descriptions of the schemas. They stand apart from the schemas, since validation does not need them. */
function document() {
  const { organization: organizationRequestSchema, team: teamRequestSchema } = requestSchemas()
  return z
    .registry<Documentation>()
    .add(organizationRequestSchema, {
      id: 'OrganizationRequest',
      description: 'What to send with an organization key. Unknown fields are ignored.',
    })
    .add(organizationRequestSchema.shape.domains, domainsDescription)
    .add(organizationRequestSchema.shape.team_id, {
      description: "The ID of the team to register in: one of the organization's.",
      examples: ['1'],
    })
    .add(teamRequestSchema, {
      id: 'TeamRequest',
      description:
        "What to send with a team key: the call acts on the key's own team. " +
        'Unknown fields are ignored, and so is `team_id`.',
    })
    .add(responseSchema, { id: 'RegisterDomainsResponse' })
    .add(responseSchema.shape.data.shape.results, {
      description: 'One for each submitted hostname, in the submitted order.',
    })
    .add(totalsSchema, { id: 'Totals', description: 'How many results have each status.' })
    .add(domainResultSchema, {
      id: 'DomainResult',
      discriminator: {
        propertyName: 'status',
        mapping: {
          created: '#/components/schemas/RegisteredResult',
          existing: '#/components/schemas/RegisteredResult',
          invalid: '#/components/schemas/InvalidResult',
        },
      },
    })
    .add(registeredResultSchema, {
      id: 'RegisteredResult',
      description: 'The hostname was registered by this call, or had been registered in this team before.',
    })
    .add(registeredResultSchema.shape.status, {
      description:
        '`created`: registered by this call. `existing`: registered in this team before, ' +
        'or submitted twice in this call.',
    })
    .add(registeredResultSchema.shape.input, input)
    .add(registeredResultSchema.shape.domain, {
      description: 'The registered hostname in canonical form: lower case, A-labels, no trailing dot.',
      examples: ['www.example.com'],
    })
    .add(registeredResultSchema.shape.domainId, {
      description: 'Identifies the registration: opaque, and the same for as long as the hostname stays registered.',
      examples: ['01a1fdc4-24dc-7291-9bdf-caca67ce70da'],
    })
    .add(invalidResultSchema, { id: 'InvalidResult', description: 'The hostname was not registered.' })
    .add(invalidResultSchema.shape.input, input)
    .add(invalidResultSchema.shape.code, {
      description: list(invalidCodeNames, code => invalidCodes[code].meaning),
    })
    .add(invalidResultSchema.shape.message, {
      description: 'For a person: what is wrong and, where it is plain, what to send instead.',
      examples: [exampleOf('internal_domain').message],
    })
}

export function componentSchemas(): Record<string, JsonSchema> {
  const documentation = document()
  const { schemas } = z.toJSONSchema(documentation, {
    metadata: documentation,
    io: 'input',
    uri: referenceTo,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _address, ...schema }]) => [id, schema]),
  )
}

export const referenceTo = (id: string) => `#/components/schemas/${id}`

/** The schema of an error answer whose status has these codes. */
export function errorSchema(codes: readonly ErrorCode[]): JsonSchema {
  const error = z.enum(codes)
  const message = z.string()
  const documentation = z
    .registry<Documentation>()
    .add(error, { description: 'What went wrong, for programs.' })
    .add(message, { description: 'What went wrong and what to send instead, for a person.' })
  const { $schema: _dialect, ...schema } = z.toJSONSchema(z.strictObject({ error, message }), {
    metadata: documentation,
  })
  return schema
}

/** A Markdown list of codes and what they mean. */
export function list<Code extends string>(codes: readonly Code[], meaningOf: (code: Code) => string): string {
  return codes.map(code => `- \`${code}\`: ${meaningOf(code)}`).join('\n')
}
