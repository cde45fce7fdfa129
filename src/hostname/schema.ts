import { classifyHostname } from './classify.ts'

/** The part of Standard Schema 1 (https://standardschema.dev) that a validator for strings implements. */
export interface HostnameSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'domain-registration'
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: string; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] }
    /** Exists only for the types. */
    readonly types?: { readonly input: string; readonly output: string } | undefined
  }
}

/**
 * {@link classifyHostname} as a Standard Schema, for forms and routes that take such a schema as a validator (TanStack
 * Form, tRPC, Hono and others). The schema accepts any value as input, and returns the canonical form. If the value is
 * invalid, there is one issue, which contains the message.
 *
 * @example
 * hostnameSchema['~standard'].validate('WWW.Example.com.') // { value: 'www.example.com' }
 */
export const hostnameSchema: HostnameSchema = {
  '~standard': {
    version: 1,
    vendor: 'domain-registration',
    validate(value) {
      const hostname = classifyHostname(value as string)
      return hostname.valid ? { value: hostname.domain } : { issues: [{ message: hostname.message }] }
    },
  },
}
