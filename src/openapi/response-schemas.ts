import * as z from 'zod/mini'
import { MAX_DOMAINS } from '../wire/request.ts'
import type { InvalidCode } from '../wire/response.ts'
import { invalidCodeNames } from './invalid-codes.ts'

// These schemas only describe: answers are not validated. A type test holds them equal to the public types.

export const registeredResultSchema = z.strictObject({
  status: z.enum(['created', 'existing']),
  input: z.string(),
  domain: z.string(),
  domainId: z.string(),
})

export const invalidResultSchema = z.strictObject({
  status: z.literal('invalid'),
  input: z.string(),
  code: z.enum<InvalidCode[]>(invalidCodeNames),
  message: z.string(),
})

export const domainResultSchema = z.discriminatedUnion('status', [registeredResultSchema, invalidResultSchema])

const count = z.int().check(z.minimum(0), z.maximum(MAX_DOMAINS))

export const totalsSchema = z.strictObject({ created: count, existing: count, invalid: count })

export const responseSchema = z.strictObject({
  data: z.strictObject({
    results: z.array(domainResultSchema).check(z.minLength(1), z.maxLength(MAX_DOMAINS)),
    totals: totalsSchema,
  }),
})
