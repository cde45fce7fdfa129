import { describe, expect, test } from 'vitest'
import {
  type Correction,
  type ManagedStore,
  reconcile,
  registerDomains,
  transfer,
  type Watched,
} from '../../src/index.ts'
import type { Registration } from '../../src/rules/registration.ts'
import type { DomainStore } from '../../src/store/contract.ts'
import { toTestRegistration } from '../../src/testing/calls.ts'
import { counts } from '../counts.ts'
import { createStore, team1, team2 } from '../fixtures.ts'

const toText = (correction: Correction) =>
  correction.action === 'add' ? `add ${correction.registration.domain}` : `remove ${correction.watched.domain}`

async function corrections(store: DomainStore, watched: Parameters<typeof reconcile>[1]): Promise<string[]> {
  const found: string[] = []
  for await (const correction of reconcile(store, watched)) found.push(toText(correction))
  return found
}

/** The list of a monitor that watches exactly the registered names. */
const watchedOf = async (store: ManagedStore): Promise<Watched[]> =>
  (await store.list()).map(({ domain, domainId }) => ({ domain, domainId }))

const gone = (domain: string, id: string) => ({ domain, domainId: `${id}1a1fdc4-24dc-7291-9bdf-caca67ce70da` })

test('reconcile yields an addition for each unwatched name and a removal for each unregistered one', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['a.com', 'b.com', '*.c.com', 'd.com'] }, store)
  await registerDomains(team2, { domains: ['e.com'] }, store)
  const watched = await watchedOf(store)
  expect(await corrections(store, watched)).toEqual([])
  expect(await corrections(store, [])).toEqual(['a.com', 'b.com', '*.c.com', 'd.com', 'e.com'].map(x => `add ${x}`))
  const [, ...withoutFirst] = watched
  const odd = [gone('first.com', '0'), ...withoutFirst.slice(0, -1), gone('last.com', 'f')]
  expect(await corrections(store, odd)).toEqual(['remove first.com', 'add a.com', 'add e.com', 'remove last.com'])
  // The name was released and registered again, so its old ID must be removed.
  await store.release('1', ['b.com'])
  await registerDomains(team1, { domains: ['b.com'] }, store)
  expect(await corrections(store, watched)).toEqual(['remove b.com', 'add b.com'])
})

test('reconcile skips a pending registration, because a sweep will push it', async () => {
  let isAway = true
  const synchronize = async () => {
    if (isAway) throw new Error('away')
  }
  const store = createStore({ synchronize, onError: () => {} })
  await registerDomains(team1, { domains: ['waits.com'] }, store).catch(() => {})
  expect(await store.count()).toBe(1)
  expect(await corrections(store, [])).toEqual([])
  isAway = false
  await registerDomains(team1, { domains: ['waits.com'] }, store)
  expect(await corrections(store, [])).toEqual(['add waits.com'])
})

test('a name that is watched for another team is removed and then added again', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['a.com', 'b.com', 'c.com'] }, store)
  const teamIds = ['1', '2', undefined]
  const watched = (await watchedOf(store)).map((each, index) => ({ ...each, teamId: teamIds[index] }))
  expect(await corrections(store, watched)).toEqual(['remove b.com', 'add b.com'])
  await expect(corrections(store, [{ ...gone('a.com', '0'), teamId: 1 as never }])).rejects.toThrow('"teamId"')
})

test('a name that is watched under the ID of another name is removed, and the registered name is added', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['a.com', 'b.com', 'c.com'] }, store)
  const domains = ['A.com.', 'other.com', 'c.com']
  const watched = (await watchedOf(store)).map((each, index) => ({ ...each, domain: domains[index] ?? '' }))
  expect(await corrections(store, watched)).toEqual(['remove other.com', 'add b.com'])
})

test('a transferred name is watched under its former ID until the new ID is watched', async () => {
  const store = createStore({ synchronize() {} })
  await registerDomains(team1, { domains: ['a.com'] }, store)
  const watched = await watchedOf(store)
  await transfer(store, { from: '1', to: '2' })
  expect(await corrections(store, watched)).toEqual([])
  await store.synchronizePending()
  expect(await corrections(store, watched)).toEqual(['remove a.com', 'add a.com'])
})

describe('the second lookup of each difference', () => {
  test('drops differences that no longer exist', async () => {
    const store = createStore()
    await registerDomains(team1, { domains: ['stays.com', 'released.com'] }, store)
    const [stays] = await watchedOf(store)
    async function* watched() {
      yield stays as Watched
      // Once the first watched name has been read, one name is registered and pushed, and another is released.
      await registerDomains(team1, { domains: ['new.com'] }, store)
      await store.release('1', ['released.com'])
      yield (await watchedOf(store)).find(({ domain }) => domain === 'new.com') as Watched
    }
    expect(await corrections(store, watched())).toEqual([])
  })

  test('finds a name in any spelling that the monitor uses', async () => {
    const store = createStore()
    await registerDomains(team1, { domains: ['first.com'] }, store)
    async function* watched() {
      yield* await watchedOf(store)
      await registerDomains(team1, { domains: ['bücher.de'] }, store)
      yield { ...((await watchedOf(store))[1] as Watched), domain: 'Bücher.DE.' }
    }
    expect(await corrections(store, watched())).toEqual([])
  })
})

test('reconcile looks up differences again in groups of at most 100, just before it yields them', async () => {
  const store = createStore()
  let yielded = 0
  let confirmed = 0
  const counting: DomainStore = {
    ...store,
    find(question) {
      expect(confirmed).toBe(yielded)
      confirmed += question.domains.length
      expect(question.domains.length).toBeLessThanOrEqual(100)
      return store.find(question)
    },
  }
  for (let call = 0; call < 3; call += 1) {
    const domains = Array.from({ length: 90 }, (_, index) => `n${call}-${index}.example.com`)
    await registerDomains(team1, { domains }, store)
  }
  for await (const _ of reconcile(counting, [])) yielded += 1
  expect([yielded, confirmed]).toEqual([270, 270])
})

test('the watched list is closed if the caller stops early or the store fails', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['a.com'] }, store)
  let ended = 0
  async function* watched() {
    try {
      for (let id = 1; id <= 5000; id += 1) yield gone('x.com', String(id).padStart(7, '0'))
    } finally {
      ended += 1
    }
  }
  const fits = { ...store, list: () => Promise.reject(new Error('down')) }
  for await (const _ of reconcile(store, toUuids(watched()))) break
  expect(ended).toBe(1)
  await expect(corrections(fits, toUuids(watched()))).rejects.toThrow('down')
})

/** Pads IDs to the length of UUIDs, so their order stays the same. */
async function* toUuids(watched: AsyncIterable<Watched>): AsyncGenerator<Watched> {
  for await (const each of watched) yield { ...each, domainId: each.domainId.slice(0, 7).padStart(36, '0') }
}

test('`reconcile` rejects an unsorted or malformed watched list, and a store without `find` or `list`', async () => {
  const store = createStore()
  const [one, other] = [gone('a.com', '1'), gone('b.com', '2')]
  await expect(corrections(store, [other, one])).rejects.toThrow('in ascending order of "domainId"')
  await expect(corrections(store, [one, one])).rejects.toThrow('in ascending order of "domainId"')
  await expect(corrections(store, ['a.com'] as never)).rejects.toThrow('must be { domainId, domain }')
  const { find: _, ...withoutFind } = store
  await expect(corrections(withoutFind, [])).rejects.toThrow('no method "find"')
  const { list: __, ...withoutList } = store
  await expect(corrections(withoutList, [])).rejects.toThrow('no method "list"')
})

test(`reconcile keeps only one page in memory, even for ${counts.registrations} watched names`, async () => {
  const toId = (number: number) => `01a1fdc4-24dc-7291-9bdf-${number.toString(16).padStart(12, '0')}`
  const toRegistration = (number: number): Registration =>
    toTestRegistration(`n${number}.example.com`, { domainId: toId(number) })
  const numberOf = (text: string) => Number.parseInt(text.slice(24), 16)
  const isRegistered = (number: number) => number % 1000 !== 7
  const isWatched = (number: number) => number % 1000 !== 8
  /** How far the reading of registrations is ahead of the reading of watched names: now, and at most so far. */
  let [ahead, farthestAhead] = [0, 0]
  const store: DomainStore = {
    findTeam: () => null,
    register: () => Promise.reject(new Error('This store only lists')),
    async list({ after, limit = 1000 } = {}) {
      const page: Registration[] = []
      for (let number = after === undefined ? 0 : numberOf(after) + 1; page.length < limit; number += 1) {
        if (number >= counts.registrations) break
        if (isRegistered(number)) page.push(toRegistration(number))
      }
      ahead += page.length
      farthestAhead = Math.max(farthestAhead, ahead)
      return page
    },
    find: async ({ domains }) => ({
      registrations: domains
        .map(domain => Number(/\d+/.exec(domain)?.[0]))
        .filter(isRegistered)
        .map(toRegistration),
      below: [],
    }),
  }
  async function* watched() {
    for (let number = 0; number < counts.registrations; number += 1) {
      if (!isWatched(number)) continue
      ahead -= 1
      yield { domain: `n${number}.example.com`, domainId: toId(number) }
    }
  }
  const found = { add: 0, remove: 0 }
  for await (const correction of reconcile(store, watched())) {
    found[correction.action] += 1
    const id = correction.action === 'add' ? correction.registration.domainId : correction.watched.domainId
    expect(numberOf(id) % 1000).toBe(correction.action === 'add' ? 8 : 7)
  }
  expect(found).toEqual({ add: counts.registrations / 1000, remove: counts.registrations / 1000 })
  expect(farthestAhead).toBeLessThan(2100)
})
