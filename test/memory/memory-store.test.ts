import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { createMemoryStore, type Registration, registerDomains } from '../../src/index.ts'
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

  test('twice at the same time is safe: at most a push too many, and nothing is left', async () => {
    const waiting: (() => void)[] = []
    let isOnline = false
    const store = createStore({
      synchronize: () => (isOnline ? new Promise<void>(resolve => waiting.push(resolve)) : Promise.reject(new Error())),
    })
    await rejection(register(store, team1, 'a.com', 'b.com', 'c.com'))
    isOnline = true
    const sweeps = [store.synchronizePending({ limit: 2 }), store.synchronizePending()]
    store.release('1', ['b.com'])
    for (const resolve of waiting.reverse()) resolve()
    await Promise.all(sweeps)
    expect(await store.synchronizePending()).toBe(0)
  })

  test('what is registered again during a push of the released name still waits', async () => {
    const offline = () => Promise.reject(new Error('offline'))
    let push: () => Promise<void> = offline
    const store = createStore({ synchronize: () => push() })
    await rejection(register(store, team1, 'a.com'))

    let finish = () => {}
    push = () => new Promise<void>(resolve => (finish = resolve))
    const sweep = store.synchronizePending()
    push = offline
    store.release('1', ['a.com'])
    await rejection(register(store, team1, 'a.com'))
    finish()
    await sweep

    push = () => Promise.resolve()
    expect(await store.synchronizePending()).toBe(1)
  })
})

describe('what is handed in and out', () => {
  test('a team can be changed only through addTeam', async () => {
    const team = { id: '5', organizationId: '10', state: 'active' as 'active' | 'suspended' }
    const store = createMemoryStore({ teams: [team] })
    team.state = 'suspended'
    expect(await store.findTeam('5')).toMatchObject({ state: 'active' })
  })

  test('a registration stays as it was when it was handed out, and changing it changes nothing', async () => {
    const pushed: Registration[] = []
    const store = createStore({
      synchronize(registrations) {
        pushed.push(...registrations)
        for (const registration of registrations) Object.assign(registration, { domain: 'x.com', teamId: '2' })
        ;(registrations as Registration[]).length = 0
      },
    })
    await register(store, team1, 'a.com')
    expect(pushed).toMatchObject([{ synchronized: false }])
    expect(await store.synchronizePending()).toBe(0)
    expect(store.release('1', ['a.com'])).toMatchObject([{ domain: 'a.com', synchronized: true }])
  })
})

describe('a registrable domain with many names', () => {
  const domains = Array.from({ length: 60 }, (_, index) => `n${index}.${index % 2 === 0 ? 'even' : 'odd'}.example.com`)

  test('says what is below a wildcard, before and after names are released', async () => {
    const store = createStore()
    await register(store, team1, ...domains)
    const subdomains = async (wildcard: string) => {
      const { data } = await registerDomains(team1, { domains: [wildcard] }, store)
      const [result] = data.results
      return result?.status === 'invalid' ? /and (\d+) more/.exec(result.message)?.[1] : result?.status
    }
    expect(await subdomains('*.example.com')).toBe('57')
    expect(await subdomains('*.odd.example.com')).toBe('27')
    expect(await register(store, team2, '*.even.example.com')).toEqual(['domain_already_licensed'])

    store.release('1', domains.slice(0, 50))
    expect(await subdomains('*.example.com')).toBe('7')
    store.release('1', domains)
    expect(await register(store, team2, '*.example.com')).toEqual(['created'])
  })
})

test('a push that hangs counts as failed after its time limit, and what it held is pushed again', async () => {
  let isHanging = true
  const pushed: string[] = []
  const store = createStore({
    synchronizeTimeLimit: 20,
    synchronize(registrations) {
      if (isHanging) return new Promise(() => {})
      pushed.push(...registrations.map(({ domain }) => domain))
    },
  })
  expect(await rejection(register(store, team1, 'a.com'))).toMatchObject({
    status: 503,
    cause: { name: 'TimeLimitError' },
  })
  await expect(store.synchronizePending()).rejects.toThrow('No answer within 20 ms')
  isHanging = false
  expect(await store.synchronizePending()).toBe(1)
  expect(pushed).toEqual(['a.com'])
})

describe('release', () => {
  test('gives up a name once, however often it is named', async () => {
    const store = createStore()
    await register(store, team1, 'example.com')
    expect(store.release('1', ['example.com', 'EXAMPLE.com'])).toHaveLength(1)
  })

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

test('a registered name keeps nothing of the text that it was cut out of', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const heapUsed = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }

  const store = createStore()
  const before = heapUsed()
  for (let index = 0; index < 20; index += 1) {
    const text = `www.cut-out-${index}.com,${'x'.repeat(5_000_000)}`.split('').join('')
    expect(await register(store, team1, text.slice(0, text.indexOf(',')))).toEqual(['created'])
  }
  expect(heapUsed() - before).toBeLessThan(50_000_000)
  expect(store.release('1', ['www.cut-out-0.com'])).toHaveLength(1)
})

const a = { domain: 'a.com', registrableDomain: 'a.com' }
const b = { domain: 'b.com', registrableDomain: 'b.com' }
const c = { domain: 'c.com', registrableDomain: 'c.com' }

test.each([
  ['backwards', [a, b, c], [c, b, a]],
  ['as other objects', [a, b, c], [{ ...a }, { ...b }, { ...c }]],
  ['beside what was asked for', [a, b], [a, c, b]],
])('what decide returns %s is found again', async (_, names, created) => {
  const store = createStore()
  const registrableDomains = ['a.com', 'b.com', 'c.com']
  await store.register({ teamId: '1', registrableDomains, names, wildcardBases: [], decide: () => created })
  expect(await register(store, team1, 'a.com', 'b.com', 'c.com')).toEqual(['existing', 'existing', 'existing'])
  expect(store.release('1', ['b.com', 'a.com', 'c.com'])).toHaveLength(3)
})
