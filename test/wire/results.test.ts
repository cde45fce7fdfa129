import { expect, test } from 'vitest'
import { countTotals } from '../../src/index.ts'

test.each([
  [[], { created: 0, existing: 0, invalid: 0 }],
  [['created'], { created: 1, existing: 0, invalid: 0 }],
  [['existing'], { created: 0, existing: 1, invalid: 0 }],
  [['invalid'], { created: 0, existing: 0, invalid: 1 }],
  [['created', 'invalid', 'created', 'existing', 'created'], { created: 3, existing: 1, invalid: 1 }],
] as const)('the totals of %j are %j', (statuses, totals) => {
  expect(countTotals(statuses.map(status => ({ status })))).toEqual(totals)
})
