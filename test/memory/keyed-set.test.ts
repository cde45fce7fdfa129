import { expect, test } from 'vitest'
import { createKeyedSet } from '../../src/memory/keyed-set.ts'

/** Enough for tables to be split, and those again: 24,576, then 8 times as many. */
const COUNT = 400_000

const entry = (index: number, version = 'first') => ({ key: `n${index}.example.com`, version })

test('holds what was put last, however many there are, and not what was deleted', () => {
  const set = createKeyedSet<ReturnType<typeof entry>>(({ key }) => key)
  const every = (step: number, from: number, act: (index: number) => void) => {
    for (let index = from; index < COUNT; index += step) act(index)
  }
  const expectVersions = (...versions: (string | undefined)[]) => {
    const wrong: number[] = []
    every(1, 0, index => {
      if (set.get(entry(index).key)?.version !== versions[index % 3]) wrong.push(index)
    })
    expect(wrong).toEqual([])
  }

  every(1, 0, index => set.put(entry(index)))
  every(3, 0, index => set.delete(entry(index).key))
  every(3, 1, index => set.put(entry(index, 'second')))
  set.delete('never put')
  expectVersions(undefined, 'second', 'first')
  expect(set.get('never put')).toBeUndefined()

  every(3, 1, index => set.delete(entry(index).key))
  expectVersions(undefined, undefined, 'first')
  every(3, 2, index => set.delete(entry(index).key))
  every(3, 1, index => set.put(entry(index, 'third')))
  expectVersions(undefined, 'third', undefined)

  every(3, 1, index => set.delete(entry(index).key))
  expectVersions(undefined, undefined, undefined)
  every(3, 0, index => set.put(entry(index, 'fourth')))
  expectVersions('fourth', undefined, undefined)
})

test('keeps apart what it must, in a random order of steps', () => {
  const set = createKeyedSet<ReturnType<typeof entry>>(({ key }) => key)
  const model = new Map<string, ReturnType<typeof entry>>()
  let state = 1
  const random = (below: number) => {
    state = Math.imul(state, 1_103_515_245) + 12_345
    return (state >>> 8) % below
  }
  for (let step = 0; step < 200_000; step += 1) {
    // The number of keys waxes and wanes, so that tables grow and shrink.
    const value = entry(random(200), String(step))
    if (random(100) < (Math.floor(step / 5000) % 2 === 0 ? 70 : 20)) {
      set.put(value)
      model.set(value.key, value)
    } else {
      set.delete(value.key)
      model.delete(value.key)
    }
    const asked = entry(random(200)).key
    if (set.get(asked) !== model.get(asked)) throw new Error(`Wrong after step ${step}`)
  }
  expect(model.size).toBeGreaterThan(0)
})
