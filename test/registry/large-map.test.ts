import { expect, test } from 'vitest'
import { createLargeMap } from '../../src/registry/large-map.ts'

/** Enough to be split twice over: 2^14 entries, then 32 times as many. */
const COUNT = 600_000
const keyOf = (index: number) => `n${index}.example.com`

test('holds what was set last, however many there are, and not what was deleted', () => {
  const map = createLargeMap<number>()
  for (let index = 0; index < COUNT; index += 1) map.set(keyOf(index), index)
  for (let index = 0; index < COUNT; index += 3) map.delete(keyOf(index))
  for (let index = 1; index < COUNT; index += 3) map.set(keyOf(index), -index)
  map.delete('never set')

  const expected = (index: number) => [undefined, -index, index][index % 3]
  const wrong = Array.from({ length: COUNT }, (_, index) => index).filter(
    index => map.get(keyOf(index)) !== expected(index),
  )
  expect(wrong).toEqual([])
  expect(map.get('never set')).toBeUndefined()
})
