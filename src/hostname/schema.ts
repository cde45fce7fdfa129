import { classifyHostname } from './classify.ts'

/** The parts of Standard Schema 1 and Standard JSON Schema 1 (https://standardschema.dev) for strings. */
export interface HostnameSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'domain-registration'
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: string; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] }
    /** The JSON Schemas of a hostname as it is sent and of its canonical form, the same for every `target`. */
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    }
    /** Exists only for the types. */
    readonly types?: { readonly input: string; readonly output: string } | undefined
  }
}

/**
 * {@link classifyHostname} as a Standard Schema, for forms and routes that take such a schema as a validator (TanStack
 * Form, tRPC, Hono and others). The schema accepts any value as input, and returns the canonical form. If the value is
 * invalid, there is one issue, which contains the message. As a Standard JSON Schema, it also describes itself to tools
 * that write OpenAPI documents or ask language models for structured output.
 *
 * @example
 * hostnameSchema['~standard'].validate('WWW.Example.com.') // { value: 'www.example.com' }
 * hostnameSchema['~standard'].jsonSchema.input({ target: 'draft-07' }).type // 'string'
 */
export const hostnameSchema: HostnameSchema = {
  '~standard': {
    version: 1,
    vendor: 'domain-registration',
    validate(value) {
      const hostname = classifyHostname(value as string)
      return hostname.valid ? { value: hostname.domain } : { issues: [{ message: hostname.message }] }
    },
    jsonSchema: {
      input: () => ({
        type: 'string',
        description:
          'A hostname: a name such as www.example.com, a wildcard such as *.example.com, or a public IP address.',
      }),
      output: () => ({
        type: 'string',
        description: 'A hostname in canonical form: lower case, A-labels, no trailing dot.',
        pattern: '^((\\*\\.)?[a-z0-9_-]+(\\.[a-z0-9_-]+)+|[0-9a-f:]+)$',
        maxLength: 253,
      }),
    },
  },
}
