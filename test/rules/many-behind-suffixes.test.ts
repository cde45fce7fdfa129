import { expect, test } from 'vitest'
import { registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, team1 } from '../fixtures.ts'

test('a wildcard never overlaps a name behind a removed suffix, even after 90 behind other suffixes', async () => {
  const store = createStore()
  const buckets = Array.from({ length: 90 }, (_, index) => `b${index}.s3.amazonaws.com`)
  const removed = 'shop.zone-once-a-suffix.amazonaws.com'
  await save(
    store,
    '2',
    [...buckets, removed].map(domain => ({ domain, registrableDomain: domain })),
  )
  const { data } = await registerDomains(team1, { domains: ['*.amazonaws.com'] }, store)
  expect(data.results).toMatchObject([{ code: 'domain_already_licensed' }])
})
