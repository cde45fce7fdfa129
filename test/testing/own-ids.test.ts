import { describe, expect, test } from 'vitest'
import { eachRegistration, exportDomains, type ListedDomain, listDomains } from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { domainStoreSuite, managedStoreFeatures, type StoreSetup } from '../../src/testing/index.ts'
import { counts, sample } from '../counts.ts'
import { rejection, team1, teams } from '../fixtures.ts'
import { createNaiveStore } from './naive-store.ts'

const reading = { ...team1, scopes: ['domains:read'] }

/** A store whose IDs are not UUIDs, and are case-sensitive. */
function createStoreWithOwnIds(setup: StoreSetup) {
  let last = 0
  return createNaiveStore(setup, {
    createId: () => `id_Z${String(++last).padStart(9, '0')}`,
    toDomainId: text => (/^id_Z\d{9}$/.test(text) ? text : null),
  })
}

describe('a store whose IDs are not UUIDs', () => {
  const cases = domainStoreSuite({ createStore: createStoreWithOwnIds, features: managedStoreFeatures })
  for (const { name, run } of sample(cases, counts.casesOfDrivers)) test.concurrent(name, run)

  async function createFilledStore() {
    const store = createStoreWithOwnIds({ teams })
    await save(store, '1', manyDomains(1500))
    return store
  }

  test('can be listed page by page, with the cursors that it returns', async () => {
    const store = await createFilledStore()
    const first = (await listDomains(reading, { limit: '1000' }, store)).data
    expect(first.next).toBe('id_Z000001000')
    const second = (await listDomains(reading, { limit: '1000', after: first.next }, store)).data
    expect([...first.domains, ...second.domains].map(({ domain }) => domain)).toEqual(manyDomains(1500))
    expect(second.next).toBeNull()
    const walked: string[] = []
    for await (const { domain } of eachRegistration(store, { teamId: '1' })) walked.push(domain)
    expect(walked).toEqual(manyDomains(1500))
  })

  test('can be exported, and an export can resume after any line', async () => {
    const store = await createFilledStore()
    const exported: ListedDomain[] = []
    for await (const page of await exportDomains(reading, {}, store)) exported.push(...page)
    expect(exported.map(({ domain }) => domain)).toEqual(manyDomains(1500))
    const after = exported[1200]?.domainId
    const rest: ListedDomain[] = []
    for await (const page of await exportDomains(reading, { after }, store)) rest.push(...page)
    expect(rest).toEqual(exported.slice(1201))
  })

  test('rejects a cursor that it cannot have returned, so the call gets 400', async () => {
    const store = await createFilledStore()
    for (const list of [listDomains, exportDomains])
      expect(await rejection(list(reading, { after: 'id_z000001000' }, store))).toMatchObject({
        ...{ status: 400, code: 'invalid_request', message: expect.stringMatching(/^after must be the /) },
      })
  })
})
