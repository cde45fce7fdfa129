import { expect, test, vi } from 'vitest'
import { type Change, createMemoryStore, importDomains } from '../../src/index.ts'
import { save, submitForCodes } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'

test('teams can be passed to the store, added later and replaced', async () => {
  const store = createStore()
  expect(await store.findTeam('1')).toMatchObject({ id: '1', state: 'active' })
  expect(await store.findTeam('77')).toBeNull()
  store.addTeam({ id: '77', organizationId: '10', state: 'active' })
  store.addTeam({ id: '1', organizationId: '10', state: 'suspended' })
  expect(await store.findTeam('77')).toMatchObject({ id: '77' })
  expect(await store.findTeam('1')).toMatchObject({ state: 'suspended' })
})

test.each([
  ['an unknown option', { synchronise: () => {} }, /"synchronise" does not exist; there are .*"synchronize"/],
  ['a push that is not a function', { synchronize: 'http://monitor' }, /"synchronize" must be a function/],
  ['an invalid time limit', { synchronizeTimeLimit: Number.NaN }, /"synchronizeTimeLimit" must be/],
  ['a batch size of 0', { batchSize: 0 }, /"batchSize" must be an integer above 0/],
  ['a batch size that is not an integer', { batchSize: 1.5 }, /"batchSize" must be an integer above 0/],
  [
    'a push with a batch size of 0',
    { synchronize: Object.assign(() => {}, { batchSize: 0 }) },
    /"batchSize" must be an integer above 0/,
  ],
  ['an onError that is not a function', { onError: true }, /"onError" must be a function/],
  ['an option "teams" that is not an array', { teams: {} }, /"teams" must be an array/],
  [
    'a team ID that is a fraction',
    { teams: [{ id: 1.5, organizationId: '1', state: 'active' }] },
    /"id" of a team .* it is 1.5/,
  ],
  ['a team without an organization', { teams: [{ id: '1', state: 'active' }] }, /"organizationId" of a team/],
  ['a team without a state', { teams: [{ id: '1', organizationId: '1' }] }, /"state" of a team/],
])('%s is rejected when the store is created', (_, options, message) => {
  expect(() => createMemoryStore(options as never)).toThrow(TypeError)
  expect(() => createMemoryStore(options as never)).toThrow(message)
})

test('a new ID sorts after all imported IDs, even if these contain a future time, so lists miss no name', async () => {
  const store = createMemoryStore()
  const begun = Date.now()
  const [domainId, former] = [begun + 3_600_000, begun - 3_600_000].map(toLastId) as [string, string]
  const shared = { teamId: '1', createdAt: new Date(), synchronized: true }
  for (const registration of [
    { ...shared, domainId, domain: 'a.com' },
    { ...shared, domainId: former, domain: 'c.com' },
  ])
    expect(await importDomains(store, [registration])).toMatchObject({ imported: 1 })
  const [saved] = await save(store, '1', ['b.com'])
  expect(await store.list({ after: domainId })).toMatchObject([{ domain: 'b.com' }])
  expect(saved?.createdAt.getTime()).toBeLessThanOrEqual(Date.now())
})

/** Returns the last UUID of version 7 that begins with this time. */
function toLastId(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7fff-bfff-ffffffffffff`
}

test('the option batchSize takes precedence over the batchSize of the push', async () => {
  const pushes: number[] = []
  const synchronize = Object.assign((changes: readonly Change[]) => void pushes.push(changes.length), { batchSize: 3 })
  const store = createStore({ synchronize, batchSize: 2 })
  await submitForCodes(store, '1', ['a.com', 'b.com', 'c.com'])
  expect(pushes.toSorted()).toEqual([1, 2])
})

test('a team can be changed only through addTeam', async () => {
  const team = { id: '5', organizationId: '10', state: 'active' as 'active' | 'suspended' }
  const store = createMemoryStore({ teams: [team] })
  team.state = 'suspended'
  expect(await store.findTeam('5')).toMatchObject({ state: 'active' })
})

test('the store is unaffected if a push modifies changes, or a caller modifies listed registrations', async () => {
  const store = createStore({
    synchronize(changes) {
      for (const change of changes) Object.assign(change, { domain: 'x.com', teamId: '2', domainId: '' })
      ;(changes as Change[]).length = 0
    },
  })
  await submitForCodes(store, '1', ['a.com'])
  expect(await store.countPending()).toBe(0)
  for (const listed of await store.list()) Object.assign(listed, { domain: 'x.com', teamId: '2' })
  expect(await store.release('1', ['a.com'])).toMatchObject([{ domain: 'a.com', synchronized: true }])
})

test('without onError, a failed push is logged to the console', async () => {
  const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
  const store = createStore({
    synchronize(changes) {
      if (changes.some(({ domain }) => domain === 'bad.com')) throw new Error('no')
    },
  })
  await rejection(submitForCodes(store, '1', ['bad.com', 'good.com']))
  const line = /pushing changes to the .+ failed \(team 1, 1 name, registered .+\): Error: no; see .+\n/
  expect(shown.mock.calls).toEqual([[expect.stringMatching(line)]])
  shown.mockRestore()
})
