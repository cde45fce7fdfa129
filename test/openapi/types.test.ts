import { expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type { DomainResult, InvalidResult, RegisterDomainsResponse, RegisteredResult, Totals } from '../../src/index.ts'
import type {
  domainResultSchema,
  invalidResultSchema,
  registeredResultSchema,
  responseSchema,
  totalsSchema,
} from '../../src/openapi/response-schemas.ts'

// The compiler is what fails here: `npm run check`.
test('the documented response is the public type', () => {
  expectTypeOf<z.infer<typeof registeredResultSchema>>().toEqualTypeOf<RegisteredResult>()
  expectTypeOf<z.infer<typeof invalidResultSchema>>().toEqualTypeOf<InvalidResult>()
  expectTypeOf<z.infer<typeof domainResultSchema>>().toEqualTypeOf<DomainResult>()
  expectTypeOf<z.infer<typeof totalsSchema>>().toEqualTypeOf<Totals>()
  expectTypeOf<z.infer<typeof responseSchema>>().toEqualTypeOf<RegisterDomainsResponse>()
})
