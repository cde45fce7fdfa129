import { expect, test } from 'vitest'
import { readBoolean, readInteger, startOfWalk } from '../../src/sql/rows.ts'

test.each([5, '5', 5n])('an integer may arrive as %o', value => {
  expect(readInteger(value)).toBe(5)
})

test.each([undefined, null, '', ' 5', '5.0', 'NaN', 0.5, Number.NaN, 2 ** 53, '9007199254740993', true, [5]])(
  '%o is rejected for an integer',
  value => {
    expect(() => readInteger(value)).toThrow(/The database driver returned .* for an integer/)
  },
)

test.each([
  ['true', true],
  ['false', false],
  [1, true],
  [0n, false],
])('a truth value may arrive as %o', (value, expected) => {
  expect(readBoolean(value)).toBe(expected)
})

test.each([undefined, null, 't', 'f', '', 'yes', 2, true])('%o is rejected for a truth value', value => {
  expect(() => readBoolean(value)).toThrow(/The database driver returned .* for a truth value/)
})

test.each([
  ['numbers', (index: number) => String(4_200_000 + index)],
  ['hexadecimal texts', (index: number) => `team-${(index << 8).toString(16).padStart(8, '0')}`],
])('walks over teams whose IDs are %s begin in each hundred of a thousand teams', (_, toId) => {
  const ids = Array.from({ length: 1000 }, (_, index) => toId(index))
  const starts = Array.from({ length: 5000 }, (_, lot) => startOfWalk(ids[500] as string, lot / 5000))
  const begun = starts.map(start =>
    Math.max(
      0,
      ids.findIndex(id => id > start),
    ),
  )
  expect(new Set(begun.map(index => Math.floor(index / 100))).size).toBe(10)
})
