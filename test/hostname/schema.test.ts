import { expect, test } from 'vitest'
import { hostnameSchema } from '../../src/index.ts'
import { readCases } from '../vectors/read.ts'

const { validate } = hostnameSchema['~standard']

test.each(readCases<[string, string, string]>('accepted-names.json'))(
  'hostnameSchema accepts %j (%s) as %j',
  (input, _, domain) => {
    expect(validate(input)).toEqual({ value: domain })
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
