import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Change, createMemoryStore, registerDomains } from '../../src/index.ts'
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
  expect(await store.synchronizePending()).toEqual({ synchronized: 0, failed: 0 })
  expect(store.list()).toMatchObject([{ domain: 'example.com', synchronized: true }])
})

describe('synchronizing', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const LEASE = 90_000
  const done = (synchronized: number, failed = 0) => ({ synchronized, failed })
  const waitFor = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

  /** A store, and what does the monitoring, which can be switched off and refuse names. */
  function createMonitored() {
    const monitor = { isAway: false, refused: new Set<string>(), pushed: [] as string[] }
    const onError = vi.fn()
    const store = createStore({
      onError,
      synchronize(changes) {
        const refused = changes.find(({ domain }) => monitor.refused.has(domain))
        if (monitor.isAway || refused) throw new Error(refused ? `no ${refused.domain}` : 'away')
        monitor.pushed.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
      },
    })
    return { monitor, store, onError }
  }

  test('pushes what no caller retried, once it is due, and never twice', async () => {
    const { monitor, store } = createMonitored()
    monitor.isAway = true
    for (const domains of [['a.com', 'b.com'], ['c.com']]) await rejection(register(store, team1, ...domains))
    monitor.isAway = false
    expect(await store.synchronizePending()).toEqual(done(0))
    await waitFor(5_000)
    expect(await store.synchronizePending({ limit: 2 })).toEqual(done(2))
    expect(await store.synchronizePending({ limit: 2 })).toEqual(done(1))
    expect(await store.synchronizePending({ limit: 2 })).toEqual(done(0))
    expect(monitor.pushed).toEqual(['registered a.com', 'registered b.com', 'registered c.com'])
    expect(await register(store, team1, 'a.com')).toEqual(['existing'])
  })

  test('what a call found unsynchronized is leased to it, but for a wildcard that only covers its names', async () => {
    const { monitor, store } = createMonitored()
    monitor.isAway = true
    await rejection(register(store, team1, 'a.com', '*.b.com', '*.c.com'))
    await waitFor(5_000)
    // Without the push: as if the process had died after register.
    const names = ['a.com', '*.b.com', '*.c.com', 'x.c.com'].map(domain => ({
      domain,
      registrableDomain: domain.slice(-5),
    }))
    const wildcardBases = [{ domain: 'b.com', registrableDomain: 'b.com' }]
    const request = { teamId: '1', registrableDomains: ['a.com', 'b.com', 'c.com'], names, wildcardBases }
    await store.register({ ...request, decide: () => [] })
    monitor.isAway = false
    expect(await store.synchronizePending()).toEqual(done(1))
    expect(monitor.pushed).toEqual(['registered *.c.com'])
    await waitFor(LEASE - 1)
    expect(await store.synchronizePending()).toEqual(done(0))
    await waitFor(1)
    expect(await store.synchronizePending()).toEqual(done(2))
  })

  test('what is refused waits twice as long each time, up to an hour, and the rest goes through', async () => {
    const { monitor, store, onError } = createMonitored()
    monitor.refused.add('bad.com')
    await rejection(register(store, team1, 'a.com', 'bad.com', 'c.com'))
    expect(monitor.pushed).toEqual(['registered a.com', 'registered c.com'])
    const waits: number[] = []
    let start = performance.now()
    await waitFor(1_000)
    while (waits.length < 14) {
      if ((await store.synchronizePending()).failed === 1) {
        waits.push(performance.now() - start)
        start = performance.now()
      }
      await waitFor(1_000)
    }
    // The first is that of the call.
    for (const [index, wait] of waits.slice(1).entries()) {
      const longest = Math.min(3_600_000, 5_000 * 2 ** index)
      expect(wait, `wait ${index}`).toBeGreaterThanOrEqual(longest / 2)
      expect(wait, `wait ${index}`).toBeLessThanOrEqual(longest + 1_000)
    }
    expect(onError).toHaveBeenLastCalledWith(
      new Error('no bad.com'),
      expect.objectContaining({ domain: 'bad.com', kind: 'registered' }),
    )
  })

  test('while the monitor is away nothing is held against any change, and the host is told once a sweep', async () => {
    const { monitor, store, onError } = createMonitored()
    monitor.isAway = true
    const domains = Array.from({ length: 40 }, (_, index) => `n${index}.com`)
    await rejection(register(store, team1, ...domains))
    for (let sweeps = 0; sweeps < 20; sweeps += 1) {
      await waitFor(5_000)
      expect(await store.synchronizePending()).toEqual(done(0, 40))
    }
    expect(onError.mock.calls).toEqual(Array(20).fill([new Error('away')]))
    monitor.isAway = false
    await waitFor(5_000)
    expect(await store.synchronizePending()).toEqual(done(40))
  })

  test('four who sweep 500 changes at once push each of them once', async () => {
    const { monitor, store } = createMonitored()
    const domains = Array.from({ length: 500 }, (_, index) => `n${index}.com`)
    monitor.isAway = true
    for (let from = 0; from < 500; from += 100) {
      await rejection(register(store, team1, ...domains.slice(from, from + 100)))
    }
    monitor.isAway = false
    await waitFor(5_000)
    const sweeps = await Promise.all([1, 2, 3, 4].map(() => store.synchronizePending({ limit: 200 })))
    expect(sweeps.map(({ synchronized }) => synchronized)).toEqual([200, 200, 100, 0])
    expect(monitor.pushed.toSorted()).toEqual(domains.map(domain => `registered ${domain}`).toSorted())
  })

  test('a release takes the place of a registration that waits, and waits no longer than one lease', async () => {
    const { monitor, store } = createMonitored()
    monitor.refused.add('bad.com')
    await rejection(register(store, team1, 'bad.com'))
    for (let sweeps = 0; sweeps < 12; sweeps += 1) {
      await waitFor(3_600_000)
      await store.synchronizePending()
    }
    store.release('1', ['bad.com'])
    expect(store.countPending()).toBe(1)
    monitor.refused.clear()
    await waitFor(LEASE)
    expect(await store.synchronizePending()).toEqual(done(1))
    expect(monitor.pushed).toEqual(['released bad.com'])
  })

  test('what is registered again during a push of the released name still waits', async () => {
    const offline = () => Promise.reject(new Error('offline'))
    let push: () => Promise<void> = offline
    const store = createStore({ synchronize: () => push() })
    await rejection(register(store, team1, 'a.com'))
    await waitFor(5_000)

    let finish = () => {}
    push = () =>
      new Promise<void>(resolve => {
        finish = resolve
      })
    const sweep = store.synchronizePending()
    await waitFor(0)
    push = offline
    store.release('1', ['a.com'])
    await rejection(register(store, team1, 'a.com'))
    finish()
    await sweep
    expect(store.countPending()).toBe(2)

    push = () => Promise.resolve()
    await waitFor(5_000)
    expect(await store.synchronizePending()).toEqual(done(2))
  })

  test('a push that hangs counts as failed after its time limit, and what it held is pushed again', async () => {
    let isHanging = true
    const pushed: string[] = []
    const store = createStore({
      synchronizeTimeLimit: 6_000,
      synchronize(changes) {
        if (isHanging) return new Promise(() => {})
        pushed.push(...changes.map(({ domain }) => domain))
      },
    })
    const refused = rejection(register(store, team1, 'a.com'))
    await waitFor(6_000)
    expect(await refused).toMatchObject({ status: 503, cause: { name: 'TimeLimitError' } })
    isHanging = false
    await waitFor(1_000)
    expect(await store.synchronizePending()).toEqual(done(1))
    expect(pushed).toEqual(['a.com'])
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
    const store = createStore({
      synchronize(changes) {
        for (const change of changes) Object.assign(change, { domain: 'x.com', teamId: '2', domainId: '' })
        ;(changes as Change[]).length = 0
      },
    })
    await register(store, team1, 'a.com')
    expect(store.countPending()).toBe(0)
    expect(store.release('1', ['a.com'])).toMatchObject([{ domain: 'a.com', synchronized: true }])
  })
})

test.each([
  ['an option that there is not', { synchronise: () => {} }, /"synchronise" does not exist; there are .*"synchronize"/],
  ['a push that is no function', { synchronize: 'http://monitor' }, /"synchronize" must be a function/],
  ['a limit that is none', { synchronizeTimeLimit: Number.NaN }, /"synchronizeTimeLimit" must be/],
  ['onError that is no function', { onError: true }, /"onError" must be a function/],
  ['teams that are no list', { teams: {} }, /"teams" must be a list/],
  [
    'a team with a number for an ID',
    { teams: [{ id: 1, organizationId: '1', state: 'active' }] },
    /"id" of a team .* it is 1/,
  ],
  ['a team without an organization', { teams: [{ id: '1', state: 'active' }] }, /"organizationId" of a team/],
  ['a team without a state', { teams: [{ id: '1', organizationId: '1' }] }, /"state" of a team/],
])('%s is refused when the store is made', (_, options, message) => {
  expect(() => createMemoryStore(options as never)).toThrow(TypeError)
  expect(() => createMemoryStore(options as never)).toThrow(message)
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
    expect(store.list()).toEqual([])
    expect(await store.synchronizePending()).toEqual({ synchronized: 2, failed: 0 })
  })
})

test('a registration keeps no more than the text that its hostname was sent as', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const heapUsed = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }

  const store = createStore()
  async function registerCalls(first: number, count: number): Promise<void> {
    for (let call = first; call < first + count; call += 1) {
      const hostnames = Array.from({ length: 100 }, (_, index) => `www.padded-${call}-${index}.com`.padStart(512))
      const body = JSON.stringify({ domains: hostnames, note: '-'.repeat(1_000_000) })
      const { data } = await registerDomains(team1, JSON.parse(body), store)
      expect(data.totals.created).toBe(100)
    }
  }

  // What the first calls compile and load stays too.
  await registerCalls(0, 50)
  const before = heapUsed()
  await registerCalls(50, 50)
  // Its 512 characters once, and less than that for everything else.
  expect((heapUsed() - before) / 5000).toBeLessThan(2 * 512)
  expect(store.release('1', ['www.padded-0-0.com'])).toHaveLength(1)
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
