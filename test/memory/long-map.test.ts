import { expect, test } from 'vitest'
import { createLongMap } from '../../src/memory/long-map.ts'
import { hashText } from '../../src/memory/text-hash.ts'

/** Enough for a map to be split into shards. */
const COUNT = 100_000
const keyOf = (index: number) => `n${index}.example.com`

test('holds what was set last, however many there are, and not what was deleted', () => {
  const map = createLongMap<string, number>(hashText)
  for (let index = 0; index < COUNT; index += 1) map.set(keyOf(index), index)
  for (let index = 0; index < COUNT; index += 3) map.delete(keyOf(index))
  for (let index = 1; index < COUNT; index += 3) map.set(keyOf(index), -index)
  map.delete('never set')
  const expected = (index: number) => [undefined, -index, index][index % 3]
  for (let index = 0; index < COUNT; index += 1) {
    if (map.get(keyOf(index)) !== expected(index)) throw new Error(`wrong at ${index}`)
  }
  expect([...map.values()]).toHaveLength(COUNT - Math.ceil(COUNT / 3))
})
