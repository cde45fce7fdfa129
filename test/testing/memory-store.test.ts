import { describe, test } from 'vitest'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: [...managedStoreFeatures, 'import', 'transfer'],
})

describe('the memory store', () => {
  for (const { name, run } of cases) test(name, run)
})
