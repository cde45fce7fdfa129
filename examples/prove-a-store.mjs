import { test } from 'node:test'
import { createMemoryStore } from 'domain-registration'
import { domainStoreSuite } from 'domain-registration/testing'

const cases = domainStoreSuite({
  createStore: ({ teams, synchronize }) => createMemoryStore({ teams, synchronize }), // in its place, your store
  features: ['synchronize', 'synchronizePending', 'release'],
})
for (const { name, run } of cases) test(name, run)
