import { expect, test } from 'vitest'
import { baseOf, wildcardsAbove } from '../../src/rules/name.ts'
import { toKey, toWildcardKeys } from '../../src/store/name-key.ts'
import { seed } from '../counts.ts'
import { createRandom } from '../random.ts'

test('the paths of some names, cut, are those of all wildcards above the names, each once', () => {
  const random = createRandom(seed)
  const label = () => random.pick(['a', 'b', 'ab', 'a-b', '0'])
  const name = () => `${Array.from({ length: random.integer(0, 5) }, () => `${label()}.`).join('')}${label()}.com`
  for (let run = 0; run < 300; run += 1) {
    const domains = Array.from({ length: random.integer(0, 12) }, () => random.pick(['', '*.']) + name())
    const found = toWildcardKeys(domains).flatMap(({ domain, secondLevelDomain, path, cuts }) => {
      expect(toKey(domain)).toEqual({ secondLevelDomain, path })
      return cuts.map(cut => `${secondLevelDomain}${path.slice(0, cut)}.*`)
    })
    const above = new Set(domains.map(baseOf).flatMap(wildcardsAbove))
    const keys = [...above].map(toKey).map(({ secondLevelDomain, path }) => `${secondLevelDomain}${path}`)
    expect(found.toSorted()).toEqual(keys.toSorted())
  }
})

test('an address has no wildcards above it, nor has a name of two labels', () => {
  expect(toWildcardKeys(['8.8.8.8', '2001:db8::1', 'example.com', '*.example.com'])).toEqual([])
})
