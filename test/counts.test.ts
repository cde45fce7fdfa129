import { expect, test } from 'vitest'
import { isLong } from './counts.ts'

test('npm run test:long runs the long versions of the tests', () => {
  expect(isLong || process.env.npm_lifecycle_event !== 'test:long').toBe(true)
})
