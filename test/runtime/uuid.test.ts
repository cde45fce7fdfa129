import { afterEach, expect, test, vi } from 'vitest'
import { createUuidGenerator } from '../../src/runtime/uuid.ts'

afterEach(() => void vi.useRealTimers())

test('a UUID has version 7 and variant 10, and begins with the time', () => {
  vi.useFakeTimers({ now: 0x0123_4567_89ab })
  expect(createUuidGenerator()()).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('100,000 UUIDs from the same millisecond are distinct and sort in order of creation', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0) })
  const create = createUuidGenerator()
  const ids = Array.from({ length: 100_000 }, create)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
})

test('UUIDs stay in order if the clock is set back', () => {
  vi.useFakeTimers({ now: 2_000_000_000_000 })
  const create = createUuidGenerator()
  const before = create()
  vi.setSystemTime(1_000_000_000_000)
  expect(create() > before).toBe(true)
})

test('two generators produce different UUIDs', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0) })
  const [one, other] = [createUuidGenerator(), createUuidGenerator()]
  const ids = Array.from({ length: 1000 }, () => [one(), other()]).flat()
  expect(new Set(ids).size).toBe(2000)
})
