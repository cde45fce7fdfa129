/** Runs the suite like an application that uses `node:test`. */
import { test } from 'node:test'
import { createMemoryStore } from '../../src/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup),
  features: managedStoreFeatures,
})
for (const { name, run } of cases) test(name, run)
