import fc from 'fast-check'
import type { Name } from '../src/rules/name.ts'

// For tests that compare a store with the memory store. There are so few names and teams that calls often conflict.

const prefixes = ['', '*.', 'a.', '*.a.', 'b.a.', '*.b.a.', 'b.', 'c.b.']
export const names = ['example.com', 'example.co.uk'].flatMap(registrableDomain =>
  prefixes.map((prefix): Name => ({ domain: prefix + registrableDomain, registrableDomain })),
)
export const bases = names.filter(({ domain }) => !domain.startsWith('*.'))
export const teamIds = ['1', '2']

export const team = fc.constantFrom(...teamIds)
export const someNames = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 5 })
