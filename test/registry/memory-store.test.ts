import { describe, expect, test, vi } from 'vitest'
import { registerDomains } from '../../src/index.ts'
import { createStore, rejection, team1, team2 } from '../fixtures.ts'

async function register(
  store: ReturnType<typeof createStore>,
  keyContext: typeof team1 | typeof team2,
  ...domains: string[]
) {
  const { data } = await registerDomains(keyContext, { domains }, store)
  return data.results.map(result => (result.status === 'invalid' ? result.code : result.status))
}

test('teams can be given, added and replaced', async () => {
  const store = createStore()
  expect(await store.findTeam('1')).toMatchObject({ id: '1', state: 'active' })
  expect(await store.findTeam('77')).toBeNull()
  store.addTeam({ id: '77', organizationId: '10', state: 'active' })
  store.addTeam({ id: '1', organizationId: '10', state: 'suspended' })
  expect(await store.findTeam('77')).toMatchObject({ id: '77' })
  expect(await store.findTeam('1')).toMatchObject({ state: 'suspended' })
})

test('without synchronize there is nothing to push to, and registrations are saved as synchronized', async () => {
  const store = createStore()
  expect(store.synchronize).toBeUndefined()
  await register(store, team1, 'example.com')
  expect(await store.synchronizePending()).toBe(0)
})

describe('synchronizePending', () => {
  test('pushes what no caller retried, oldest first and at most the limit, and never twice', async () => {
    let isOnline = false
    const push = vi.fn(() => {
      if (!isOnline) throw new Error('offline')
    })
    const store = createStore({ synchronize: push })
    for (const domains of [['a.com', 'b.com'], ['c.com']]) await rejection(register(store, team1, ...domains))
    await expect(store.synchronizePending()).rejects.toThrow('offline')

    isOnline = true
    push.mockClear()
    expect(await store.synchronizePending({ limit: 2 })).toBe(2)
    expect(await store.synchronizePending({ limit: 2 })).toBe(1)
    expect(await store.synchronizePending({ limit: 2 })).toBe(0)
    const pushed = (push.mock.calls as unknown as [{ domain: string }[]][]).map(([batch]) =>
      batch.map(({ domain }) => domain),
    )
    expect(pushed).toEqual([['a.com', 'b.com'], ['c.com']])
    expect(await register(store, team1, 'a.com')).toEqual(['existing'])
  })
})

describe('release', () => {
  test('frees names for every team', async () => {
    const store = createStore()
    await register(store, team1, 'a.example.com', '*.example.org')
    expect(await register(store, team2, 'a.example.com', '*.example.com', 'b.example.org')).toEqual(
      Array(3).fill('domain_already_licensed'),
    )
    const released = store.release('1', ['A.Example.com.', '*.example.org'])
    expect(released.map(({ domain }) => domain)).toEqual(['a.example.com', '*.example.org'])
    expect(await register(store, team2, '*.example.com', 'b.example.org')).toEqual(['created', 'created'])
  })

  test('passes over what the team does not hold, and what is no hostname', async () => {
    const store = createStore()
    await register(store, team1, 'example.com')
    expect(store.release('2', ['example.com'])).toEqual([])
    expect(store.release('1', ['www.example.com', 'localhost', ''])).toEqual([])
    expect(await register(store, team1, 'example.com')).toEqual(['existing'])
  })

  test('gives a name a new ID when it is registered again', async () => {
    const store = createStore()
    await register(store, team1, 'example.com')
    const [released] = store.release('1', ['example.com'])
    const { data } = await registerDomains(team1, { domains: ['example.com'] }, store)
    expect(data.results[0]).toMatchObject({
      status: 'created',
      domainId: expect.not.stringMatching(released?.domainId ?? ''),
    })
  })

  test('during a synchronization leaves nothing behind', async () => {
    const store = createStore({ synchronize: () => void store.release('1', ['example.com']) })
    await register(store, team1, 'example.com')
    expect(await register(store, team1, 'example.com')).toEqual(['created'])
    expect(await store.synchronizePending()).toBe(0)
  })
})
