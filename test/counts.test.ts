import { expect, test } from 'vitest'
import { isLong } from './counts.ts'

test('npm run test:long runs with the large counts', () => {
  expect(isLong || process.env.npm_lifecycle_event !== 'test:long').toBe(true)
})
