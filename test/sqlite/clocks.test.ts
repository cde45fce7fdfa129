import { afterEach, expect, test, vi } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { openDatabase } from './open-database.ts'

const DAY = 86_400_000

afterEach(() => void vi.useRealTimers())
const setClock = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })

function openStore() {
  const pushed: string[] = []
  const refused = new Set<string>()
  const database = openDatabase()
  const store = createSqliteStore({
    database,
    findTeam: () => null,
    onError() {},
    synchronize(changes) {
      if (changes.some(({ domain }) => refused.has(domain))) throw new Error('refused')
      pushed.push(...toDomains(changes))
    },
    synchronizeTimeLimit: 1234.5,
  })
  return { database, store, pushed, refused }
}

test('new IDs of calls and transfers sort last, even if the clocks of two processes differ by a day', async () => {
  const { database, store } = openStore()
  const other = createSqliteStore({ database, findTeam: () => null })
  const now = Date.now()
  setClock(now + DAY)
  await save(store, '1', ['a.com', 'b.com'])
  setClock(now)
  await save(other, '1', ['c.com', 'd.com'])
  expect(toDomains(await store.list())).toEqual(['a.com', 'b.com', 'c.com', 'd.com'])
  await other.transfer?.({ from: '1', to: '2', domains: ['a.com'], needsCount: false, decide: () => true })
  expect(toDomains(await store.list())).toEqual(['b.com', 'c.com', 'd.com', 'a.com'])
  // The order of the following names must not depend on the random parts of their IDs.
  const domains = manyDomains(20)
  for (const [index, domain] of domains.entries()) {
    setClock(now + (index % 2) * DAY)
    await save(index % 2 ? store : other, '1', [domain])
  }
  expect(toDomains(await store.list()).slice(4)).toEqual(domains)
})

test('changes that were postponed while the clock was a day ahead are pushed once the clock is right', async () => {
  const { store, pushed, refused } = openStore()
  const now = Date.now()
  const saved = await save(store, '1', ['refused.com', 'b.com'])
  setClock(now + DAY)
  refused.add('refused.com')
  await rejection(Promise.resolve(store.synchronize?.(saved)))
  await save(store, '1', ['a.com'])
  refused.clear()
  setClock(now)
  expect(await store.synchronizePending()).toEqual({ synchronized: 2, failed: 0 })
  expect(pushed.toSorted()).toEqual(['a.com', 'b.com', 'refused.com'])
})

test('a synchronizeTimeLimit of a fraction of a millisecond is accepted', async () => {
  const { store, pushed } = openStore()
  await store.synchronize?.(await save(store, '1', ['a.com']))
  await save(store, '1', ['b.com'])
  await store.release('1', ['a.com', 'b.com'])
  await store.synchronizePending()
  expect(pushed).toEqual(['a.com', 'a.com'])
  expect(await store.countPending()).toBe(1)
})
