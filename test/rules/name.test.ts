import { expect, test } from 'vitest'
import { ancestorsOf, baseOf, isAddress, isWildcard, wildcardOver } from '../../src/rules/name.ts'

test.each([
  ['a.b.example.com', ['b.example.com', 'example.com']],
  ['*.a.b.example.com', ['b.example.com', 'example.com']],
  ['example.com', []],
  ['*.example.com', []],
  ['com', []],
  ['*.com', []],
  ['8.8.8.8', []],
  ['192.0.43.10', []],
  ['2606:4700::1111', []],
  ['a.8.example.com', ['8.example.com', 'example.com']],
  ['a.example.xn--x8', ['example.xn--x8']],
])('the names above %s are %j', (domain, expected) => {
  expect(ancestorsOf(domain)).toEqual(expected)
})

test.each([
  ['8.8.8.8', true],
  ['192.0.43.10', true],
  ['2606:4700::1111', true],
  ['8.example.com', false],
  ['example.8x', false],
  ['example.x8', false],
  ['example.com', false],
])('isAddress(%j) is %j', (domain, expected) => {
  expect(isAddress(domain)).toBe(expected)
})

test('the base of a wildcard is the name after its "*.", and the base of any other name is this name', () => {
  expect([isWildcard('*.a.com'), isWildcard('a.com')]).toEqual([true, false])
  expect(baseOf(wildcardOver('a.com'))).toBe('a.com')
  expect(baseOf('a.com')).toBe('a.com')
})
