import { expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import type * as schemas from '../../src/openapi/result-schemas.ts'
import type { WebhookBody } from '../../src/webhook/index.ts'
import type {
  DeleteDomainsResponse,
  ErrorResponse,
  InvalidResult,
  ListDomainsResponse,
  ListWaitingResponse,
  PreviewDomainsResponse,
  PreviewResult,
  RegisterDomainsResponse,
  RegisteredResult,
  Totals,
} from '../../src/wire/results.ts'

/** The values of a type as JSON: without `undefined`, and without `readonly`, which says nothing about a value. */
type Sent<Value> = Value extends string
  ? Value
  : Value extends object
    ? { -readonly [Name in keyof Value]: Sent<Exclude<Value[Name], undefined>> }
    : Value

test('the compiler finds each public type equal to the schema of the OpenAPI document', () => {
  type Schemas = typeof schemas
  type Of<Name extends keyof Schemas> = Schemas[Name] extends z.ZodType ? Sent<z.infer<Schemas[Name]>> : never
  /** The document leaves the reasons open, and TypeScript lists those that exist. */
  type Open<Preview> = Preview extends { reason: string } ? Omit<Preview, 'reason'> & { reason: string } : Preview

  expectTypeOf<Of<'registerDomainsResponse'>>().toEqualTypeOf<Sent<RegisterDomainsResponse>>()
  expectTypeOf<Of<'registeredResult'>>().toEqualTypeOf<Sent<RegisteredResult>>()
  expectTypeOf<Of<'invalidResult'>>().toEqualTypeOf<Sent<InvalidResult>>()
  expectTypeOf<Of<'totals'>>().toEqualTypeOf<Sent<Totals>>()
  expectTypeOf<Open<Of<'previewResult'>>>().branded.toEqualTypeOf<Open<Sent<PreviewResult>>>()
  expectTypeOf<Omit<Of<'previewDomainsResponse'>['data'], 'results'>>().toEqualTypeOf<
    Omit<Sent<PreviewDomainsResponse>['data'], 'results'>
  >()
  expectTypeOf<Of<'deleteDomainsResponse'>>().toEqualTypeOf<Sent<DeleteDomainsResponse>>()
  expectTypeOf<Of<'listDomainsResponse'>>().toEqualTypeOf<Sent<ListDomainsResponse>>()
  expectTypeOf<Of<'listWaitingResponse'>>().toEqualTypeOf<Sent<ListWaitingResponse>>()
  expectTypeOf<Of<'errorResponse'>>().toExtend<ErrorResponse>()
  expectTypeOf<ErrorResponse>().toExtend<Of<'errorResponse'>>()
  expectTypeOf<Of<'domainsChanged'>>().toEqualTypeOf<Sent<WebhookBody>>()
})
