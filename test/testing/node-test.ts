/** The suite as a host runs it that has `node:test` and nothing else. */
import { test } from 'node:test'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite } from '../../src/testing/domain-store-suite.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: ['synchronize', 'synchronizePending', 'countPending', 'release', 'list'],
})
for (const { name, run } of cases) test(name, run)
