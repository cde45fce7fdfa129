import { expect, test, vi } from 'vitest'
import {
  createMemoryStore,
  eachRegistration,
  findOwners,
  importDomains,
  type ListOptions,
  type Registration,
  reconcile,
  releaseAll,
} from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createStore } from '../fixtures.ts'

async function collect(...walk: Parameters<typeof eachRegistration>): Promise<string[]> {
  const domains: string[] = []
  for await (const { domain } of eachRegistration(...walk)) domains.push(domain)
  return domains
}

async function createFilledStore(count: number) {
  const store = createStore()
  await save(store, '1', manyDomains(count))
  await save(store, '2', ['other.example.org'])
  return store
}

test.each([0, 1, 999, 1000, 1001, 2500])(
  'eachRegistration yields each registration once, in order (names of the team: %i)',
  async count => {
    const store = await createFilledStore(count)
    const list = vi.spyOn(store, 'list')
    expect(await collect(store, { teamId: '1' })).toEqual(manyDomains(count))
    expect(list).toHaveBeenCalledTimes(Math.floor(count / 1000) + 1)
    expect(await collect(store, { teamId: '1', order: 'newest' })).toEqual(manyDomains(count).reverse())
  },
)

test('eachRegistration can be limited to one team, one name, names below a name, or names after an ID', async () => {
  const store = await createFilledStore(3)
  const below = manyDomains(1200, 'a').map(domain => `${domain}.example.net`)
  await save(
    store,
    '1',
    below.map(domain => ({ domain, registrableDomain: 'example.net' })),
  )
  expect(await collect(store)).toEqual([...manyDomains(3), 'other.example.org', ...below])
  expect(await collect(store, { domain: 'n1.com' })).toEqual(['n1.com'])
  expect((await collect(store, { below: 'example.net' })).toSorted()).toEqual(below.toSorted())
  const [, second] = await store.list()
  expect(await collect(store, { after: second?.domainId, teamId: '1' })).toEqual(['n2.com', ...below])
})

test('eachRegistration rejects unknown options, the option `limit`, and a store without `list`', async () => {
  const store = createMemoryStore()
  await expect(collect(store, { teamID: '1' } as object)).rejects.toThrow('"teamID" does not exist')
  expect(() => eachRegistration(store, { limit: 5 } as object)).toThrow('The option "limit" does not exist here')
  const { list: _, ...withoutList } = store
  expect(() => eachRegistration(withoutList)).toThrow('no method "list"')
})

test('eachRegistration and releaseAll fail, instead of never ending, if the store ignores "after"', async () => {
  const store = await createFilledStore(2000)
  const calls: unknown[] = []
  const blind = {
    ...store,
    list({ after: _, ...options }: ListOptions) {
      if (calls.push(options) > 20) throw new Error('It requests pages endlessly')
      return store.list(options)
    },
    release: () => [],
  }
  for (const work of [() => collect(blind), () => releaseAll(blind, '1')])
    await expect(work()).rejects.toThrow('The store lists the same page again: its "list" must honor "after"')
})

test('releaseAll fails, and releases nothing, if the IDs of a store do not ascend', async () => {
  const inner = createStore()
  const rows = manyDomains(12).map((domain, index) => ({ domain, domainId: String(index + 1) }) as Registration)
  const release = vi.fn(() => [])
  const list = ({ order, limit }: ListOptions = {}) => (order === 'newest' ? rows.toReversed() : rows).slice(0, limit)
  await expect(releaseAll({ ...inner, list, release }, '1')).rejects.toThrow('IDs must ascend')
  expect(release).not.toHaveBeenCalled()
})

test('eachRegistration reads a store whose methods use `this`', async () => {
  class Listing {
    readonly inner = createStore()
    readonly findTeam = this.inner.findTeam
    readonly register = this.inner.register
    list(options: ListOptions) {
      return this.inner.list(options)
    }
  }
  const store = new Listing()
  await save(store, '1', ['a.com'])
  expect(await collect(store)).toEqual(['a.com'])
})

test('releaseAll keeps names that are registered while it runs, and ends once it reads only such names', async () => {
  const store = await createFilledStore(1000)
  const growing = {
    ...store,
    async release(...call: Parameters<typeof store.release>) {
      await save(store, '1', manyDomains(1000, 'later.'))
      return store.release(...call)
    },
  }
  const list = vi.spyOn(growing, 'list')
  expect(await releaseAll(growing, '1')).toBe(1000)
  expect(await collect(store, { teamId: '1' })).toEqual(manyDomains(1000, 'later.'))
  // `list` is called three times: for the last name, for the page with all names, and for a page with only later names.
  expect(list).toHaveBeenCalledTimes(3)
})

test('other work runs between two pages, even if the store returns synchronously', async () => {
  const store = await createFilledStore(3500)
  const rows: Registration[] = []
  for await (const row of eachRegistration(store)) rows.push(row)
  const walks = [
    () => collect(store),
    () => importDomains(createStore(), rows),
    () => findOwners(store, manyDomains(3500)),
    () => drain(reconcile(store, [])),
    () => drain(reconcile(createStore(), ids(3500))),
  ]
  for (const walk of walks) {
    let turns = 0
    const timer = setInterval(() => (turns += 1), 0)
    await walk()
    clearInterval(timer)
    expect(turns).toBeGreaterThanOrEqual(3)
  }
})

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ domainId: String(index).padStart(9, '0'), domain: 'x.example.com' }))
