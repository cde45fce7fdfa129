import { describe, expect, test } from 'vitest'
import { importDomains } from '../../src/operations/import-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import { createUuidGenerator } from '../../src/runtime/uuid.ts'
import type { ManagedStore, ManagedStoreOptions } from '../../src/store/managed-store.ts'
import { save } from '../../src/testing/calls.ts'

type Open = (options?: Pick<ManagedStoreOptions, 'synchronize'>) => ManagedStore

/**
 * Tests which changes a store without `synchronize` records if it shares its tables with a store that has
 * `synchronize`.
 *
 * @param prepare Creates empty tables, and returns a function that opens stores on them. Called for each test.
 */
export function describeSharedTables(prepare: () => Promise<Open>): void {
  const listKinds = async (store: ManagedStore) =>
    (await store.listPending()).map(({ kind, domain, teamId }) => `${kind} ${domain} for team ${teamId}`).sort()

  /** Releases a.com and transfers b.com. */
  async function releaseAndTransfer(store: ManagedStore): Promise<void> {
    await store.release('1', ['a.com'])
    await transfer(store, { from: '1', to: '2', domains: ['b.com'] })
  }
  const changes = ['registered b.com for team 2', 'released a.com for team 1', 'released b.com for team 1']

  test('a store with synchronize records releases and transfers of imported names even before any push', async () => {
    const store = (await prepare())({ synchronize() {} })
    const createId = createUuidGenerator()
    const rows = ['a.com', 'b.com'].map(domain => ({
      domain,
      domainId: createId(),
      teamId: '1',
      createdAt: new Date(0),
    }))
    await importDomains(
      store,
      rows.map(row => ({ ...row, synchronized: true })),
    )
    await releaseAndTransfer(store)
    expect(await listKinds(store)).toEqual(changes)
  })

  describe('a store without synchronize', () => {
    test('records releases and transfers of pending registrations, even if nothing was ever pushed', async () => {
      const open = await prepare()
      await save(open({ synchronize() {} }), '1', ['a.com', 'b.com'])
      const store = open()
      await releaseAndTransfer(store)
      expect(await listKinds(store)).toEqual(changes)
    })

    test.each<[string, (pushing: ManagedStore) => Promise<unknown>]>([
      ['has swept the tables', pushing => pushing.synchronizePending()],
      ['has pushed a registration', async pushing => pushing.synchronize?.(await save(pushing, '1', ['c.com']))],
    ])('records releases and transfers of synchronized registrations once another store %s', async (_, push) => {
      const open = await prepare()
      const store = open()
      await save(store, '1', ['a.com', 'b.com'])
      await push(open({ synchronize() {} }))
      await releaseAndTransfer(store)
      expect(await listKinds(store)).toEqual(changes)
    })

    test('records no release or transfer of a synchronized registration if nothing was ever pushed', async () => {
      const open = await prepare()
      const store = open()
      await save(store, '1', ['a.com', 'b.com'])
      await save(open({ synchronize() {} }), '1', ['c.com'])
      await releaseAndTransfer(store)
      expect(await listKinds(store)).toEqual(['registered c.com for team 1'])
      expect((await store.list()).map(({ domain, synchronized }) => [domain, synchronized])).toEqual([
        ['c.com', false],
        ['b.com', true],
      ])
    })
  })
}
