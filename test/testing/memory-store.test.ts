import { describe, test } from 'vitest'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: [...managedStoreFeatures, 'import', 'transfer'],
  timeLimit: 20_000,
})

describe('the memory store', () => {
  // Each case has its own store, and many only wait.
  for (const { name, run } of cases) test.concurrent(name, run)
})
