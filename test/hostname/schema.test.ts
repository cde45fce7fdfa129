import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { hostnameSchema } from '../../src/index.ts'
import { readCases } from '../vectors/read.ts'

const { validate, jsonSchema } = hostnameSchema['~standard']
const [isInput, isOutput] = [jsonSchema.input, jsonSchema.output].map(toSchema =>
  new Ajv2020().compile(toSchema({ target: 'draft-2020-12' })),
) as [ValidateFunction, ValidateFunction]

test.each(readCases<[string, string, string]>('accepted-names.json'))(
  'hostnameSchema accepts %j (%s) as %j, and its JSON Schemas accept both',
  (input, _, domain) => {
    expect(validate(input)).toEqual({ value: domain })
    expect([isInput(input), isOutput(domain)]).toEqual([true, true])
  },
)

test.each([['localhost'], [''], [null], [42], [undefined]])(
  'hostnameSchema rejects %j with one issue, which has a message',
  value => {
    expect(validate(value)).toEqual({ issues: [{ message: expect.stringMatching(/.\.$/) }] })
  },
)

test('expect.schemaMatching, which takes any Standard Schema, works with hostnameSchema', () => {
  expect('WWW.Example.com.').toEqual(expect.schemaMatching(hostnameSchema))
  expect('localhost').not.toEqual(expect.schemaMatching(hostnameSchema))
})

test('hostnameSchema has the converters of a Standard JSON Schema, as zod has, for every target', () => {
  const { input, output }: z.ZodString['~standard']['jsonSchema'] = jsonSchema
  for (const target of ['draft-2020-12', 'draft-07', 'openapi-3.0'])
    for (const toSchema of [input, output]) expect(toSchema({ target })).toMatchObject({ type: 'string' })
  for (const text of ['WWW.example.com', 'example.com.', '*.*.com', 'localhost', '']) expect(isOutput(text)).toBe(false)
})
