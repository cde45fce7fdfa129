import { expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import { countTotals } from '../../src/index.ts'
import type { WebhookBody } from '../../src/webhook/index.ts'
import type * as schemas from '../../src/wire/result-schemas.ts'
import type {
  DeleteDomainsResponse,
  ErrorResponse,
  InvalidResult,
  ListDomainsResponse,
  PreviewDomainsResponse,
  PreviewResult,
  RegisterDomainsResponse,
  RegisteredResult,
  Totals,
} from '../../src/wire/results.ts'

test.each([
  [[], { created: 0, existing: 0, invalid: 0 }],
  [['created'], { created: 1, existing: 0, invalid: 0 }],
  [['existing'], { created: 0, existing: 1, invalid: 0 }],
  [['invalid'], { created: 0, existing: 0, invalid: 1 }],
  [['created', 'invalid', 'created', 'existing', 'created'], { created: 3, existing: 1, invalid: 1 }],
] as const)('the totals of %j are %j', (statuses, totals) => {
  expect(countTotals(statuses.map(status => ({ status })))).toEqual(totals)
})

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
  expectTypeOf<Of<'errorResponse'>>().toExtend<ErrorResponse>()
  expectTypeOf<ErrorResponse>().toExtend<Of<'errorResponse'>>()
  expectTypeOf<Of<'domainsChanged'>>().toEqualTypeOf<Sent<WebhookBody>>()
})
