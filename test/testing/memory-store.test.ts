import { describe, test } from 'vitest'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite } from '../../src/testing/domain-store-suite.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: ['synchronize', 'synchronizePending', 'countPending', 'release', 'list'],
})

describe('the memory store', () => {
  test.each(cases)('$name', ({ run }) => run())
})
