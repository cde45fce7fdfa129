import { test } from 'node:test'
import { createMemoryStore } from 'domain-registration'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'

const cases = domainStoreSuite({
  createStore: setup => createMemoryStore(setup), // replace with your store
  features: managedStoreFeatures,
})
for (const { name, run } of cases) test(name, run)
