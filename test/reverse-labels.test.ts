import { expect, test } from 'vitest'
import { reverseLabels } from '../src/reverse-labels.ts'

const reversed = (labels: string) => labels.split('.').reverse().join('.')

test.each([
  ['', ''],
  ['a', 'a'],
  ['a.bc.d', 'd.bc.a'],
  ['*.a.b', 'b.a.*'],
  ['*.a', 'a.*'],
])('%j is %j from right to left', (labels, expected) => {
  expect(reverseLabels(labels)).toBe(expected)
})

test('what was asked before does not matter: names above it, the same, others, and such that end like it', () => {
  const names = [
    'ab.cd.ef.gh',
    'cd.ef.gh',
    'd.ef.gh',
    'ef.gh',
    'gh',
    'h',
    '*.cd.ef.gh',
    'x.ab.cd.ef.gh',
    'b.cd.ef.gh',
    '',
  ]
  for (const before of names) {
    for (const name of names) {
      reverseLabels(before)
      expect([before, name, reverseLabels(name)]).toEqual([before, name, reversed(name)])
    }
  }
})
