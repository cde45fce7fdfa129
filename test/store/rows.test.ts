import { expect, test } from 'vitest'
import { readBoolean, readInteger } from '../../src/store/rows.ts'

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
