import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: [...managedStoreFeatures, 'import', 'transfer'],
})

describe('the memory store', () => {
  for (const { name, run } of cases) test(name, run)
})

test('README.md says how many cases the suite has', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(`${cases.length} cases`)
})
