import { describe, test } from 'vitest'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/domain-store-suite.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: managedStoreFeatures,
})

describe('the memory store', () => {
  test.each(cases)('$name', ({ run }) => run())
})
