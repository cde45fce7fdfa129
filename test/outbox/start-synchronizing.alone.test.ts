import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryStore, startSynchronizing } from '../../src/index.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import type { SweepOptions, SweepResult } from '../../src/outbox/contract.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import type { ManagedStoreOptions } from '../../src/store/index.ts'
import { manyDomains, save, toDomains } from '../../src/testing/calls.ts'
import { createStore, rejection, team1 } from '../fixtures.ts'
import { openDatabase } from '../sqlite/open-database.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const none = { synchronized: 0, failed: 0 }
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

/** A store whose sweeps have the given outcomes, and the time of each sweep. */
function createSweeps(sweep: (options?: SweepOptions) => Promise<SweepResult>) {
  const times: number[] = []
  const start = Date.now()
  const synchronizePending = (options?: SweepOptions) => {
    times.push(Date.now() - start)
    return sweep(options)
  }
  return { store: { synchronizePending }, times }
}

describe('the loop of startSynchronizing', () => {
  test('sweeps immediately, and again after each pause', async () => {
    const { store, times } = createSweeps(async () => none)
    const { stop } = startSynchronizing(store, { interval: 100 })
    await pass(350)
    await stop()
    expect(times).toEqual([0, 100, 200, 300])
  })

  test('sweeps without a pause while changes succeed', async () => {
    let left = 3
    const { store, times } = createSweeps(async () => (left-- > 0 ? { synchronized: 1000, failed: 1 } : none))
    const { stop } = startSynchronizing(store, { interval: 100 })
    await pass(150)
    await stop()
    expect(times).toEqual([0, 1, 2, 3, 103])
  })

  test('waits only for its interval, without backoff, if a sweep fails right after a successful one', async () => {
    let isFirst = true
    const { store, times } = createSweeps(async () => {
      const synchronized = isFirst ? 1000 : 0
      isFirst = times.length % 2 === 0
      return { synchronized, failed: 3 }
    })
    const { stop } = startSynchronizing(store, { interval: 100 })
    await pass(250)
    await stop()
    expect(times).toEqual([0, 1, 101, 102, 202, 203])
  })

  test('keeps an interval of more than a minute even while nothing succeeds', async () => {
    const { store, times } = createSweeps(async () => ({ synchronized: 0, failed: 1 }))
    const { stop } = startSynchronizing(store, { interval: 100_000 })
    await pass(250_000)
    await stop()
    expect(times).toEqual([0, 100_000, 200_000])
  })

  test('never runs two sweeps at once, even if one takes longer than the interval', async () => {
    let running = 0
    let most = 0
    const { store, times } = createSweeps(async () => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setTimeout(resolve, 1_000))
      running -= 1
      return none
    })
    const { stop } = startSynchronizing(store, { interval: 10 })
    await pass(5_000)
    const stopped = stop()
    await pass(2_000)
    await stopped
    expect([most, times.length]).toEqual([1, 5])
  })

  test('backs off to a minute while all pushes fail, and resumes its interval once no push fails', async () => {
    let isAway = true
    const { store, times } = createSweeps(async () => (isAway ? { synchronized: 0, failed: 5 } : none))
    const { stop } = startSynchronizing(store)
    await pass(300_000)
    expect(times).toEqual([0, 20_000, 60_000, 120_000, 180_000, 240_000, 300_000])
    isAway = false
    await pass(80_000)
    await stop()
    expect(times.slice(7)).toEqual([360_000, 370_000, 380_000])
  })

  test.each([
    ['after 3 s', 'for 3 s', { retryAfter: 3_000 }, [0, 3_010, 13_010]],
    ['after a minute', 'for an hour', { retryAfter: 3_600_000 }, [0, 60_000]],
    ['after the interval', 'for an unknown time', { retryAfter: undefined }, [0, 10_000, 20_000]],
  ])(
    'sweeps again %s if the monitor becomes unavailable %s during a sweep',
    async (_when, _long, unavailable, expected) => {
      let isFirst = true
      const { store, times } = createSweeps(async () => {
        const result = isFirst ? { synchronized: 600, failed: 400, unavailable } : none
        isFirst = false
        return result
      })
      const { stop } = startSynchronizing(store)
      await pass((expected.at(-1) as number) + 10)
      await stop()
      expect(times).toEqual(expected)
    },
  )

  test.each([
    ['even if the monitor asks for a short wait', 500, [0, 20_000, 60_000]],
    ['and never earlier than the monitor asks for', 30_000, [0, 30_010, 70_010]],
  ])('pushes less and less often while the monitor is unavailable, %s', async (_, retryAfter, expected) => {
    const { store, times } = createSweeps(async () => ({ synchronized: 0, failed: 5, unavailable: { retryAfter } }))
    const { stop } = startSynchronizing(store)
    await pass((expected.at(-1) as number) + 10)
    await stop()
    expect(times).toEqual(expected)
  })

  describe.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the log is away')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is away'))],
  ])('with a handler that %s', (_, fail) => {
    test('continues, and calls onError for each failure of the store', async () => {
      const told: unknown[] = []
      const { store, times } = createSweeps(() => Promise.reject(new Error('no database')))
      const onError = (error: unknown) => {
        told.push(error)
        return fail()
      }
      const { stop } = startSynchronizing(store, { interval: 1_000, onError })
      await pass(3_000)
      await stop()
      expect(times).toEqual([0, 2_000])
      expect(told).toEqual([new Error('no database'), new Error('no database')])
    })

    test('continues, and calls onSweep with the result of each sweep', async () => {
      const told: SweepResult[] = []
      const { store } = createSweeps(async () => none)
      const onSweep = (result: SweepResult) => {
        told.push(result)
        return fail()
      }
      const { stop } = startSynchronizing(store, { interval: 1_000, onSweep })
      await pass(2_500)
      await stop()
      expect(told).toEqual(Array(3).fill(none))
    })
  })

  test('passes onError to its sweeps, which call it for each refused change', async () => {
    const onError = vi.fn()
    const store = createStore({
      synchronize() {
        throw new Error('refused')
      },
    })
    await rejection(registerDomains(team1, { domains: ['a.com'] }, store))
    const { stop } = startSynchronizing(store, { interval: 1_000, onError })
    await pass(6_000)
    await stop()
    expect(onError.mock.calls[0]).toEqual([new Error('refused'), expect.objectContaining({ domain: 'a.com' })])
  })
})

describe('stopping the loop', () => {
  test('waits for the running sweep, and starts no new one', async () => {
    let finish: (result: SweepResult) => void = () => {}
    const { store, times } = createSweeps(
      () =>
        new Promise(resolve => {
          finish = resolve
        }),
    )
    const { stop } = startSynchronizing(store, { interval: 10 })
    await pass(5)
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    await pass(1_000)
    expect(isStopped).toBe(false)
    finish({ synchronized: 1, failed: 0 })
    await stopped
    expect(vi.getTimerCount()).toBe(0)
    await pass(1_000)
    expect(times).toEqual([0])
  })

  test.each([
    ['a time limit of 500 ms', 250, 500, 500],
    ['a time limit of 5000 ms', 4_000, 5_000, 5_000],
    ['the default time limit', 9_000, 10_000, undefined],
  ])(
    'with %s aborts the push after %i ms, and ends after %i ms if the push ignores the signal',
    async (_, abort, limit, timeLimit) => {
      for (const isHeard of [true, false]) {
        let reason: unknown
        const { store } = createSweeps(
          options =>
            new Promise(resolve => {
              options?.signal?.addEventListener('abort', () => {
                reason = options.signal?.reason
                if (isHeard) resolve(none)
              })
            }),
        )
        const { stop } = startSynchronizing(store)
        await pass(5)
        const settled = vi.fn()
        stop({ timeLimit }).then(settled)
        await pass(abort - 1)
        expect([reason, settled.mock.calls.length]).toEqual([undefined, 0])
        await pass(1)
        expect(reason).toEqual(new Error('Synchronizing was stopped'))
        expect(settled).toHaveBeenCalledTimes(isHeard ? 1 : 0)
        await pass(limit - abort - 1)
        expect(settled).toHaveBeenCalledTimes(isHeard ? 1 : 0)
        await pass(1)
        expect(settled).toHaveBeenCalledTimes(1)
      }
    },
  )

  test('rejects a time limit that is not a number of milliseconds', async () => {
    const { stop } = startSynchronizing(createSweeps(async () => none).store)
    await expect(stop({ timeLimit: Number.NaN })).rejects.toThrow('"timeLimit" must be a number of milliseconds')
    await stop()
  })

  test('takes effect at once if no sweep has begun, and can be repeated', async () => {
    const { store, times } = createSweeps(async () => none)
    const { stop } = startSynchronizing(store)
    await stop()
    await stop()
    expect(vi.getTimerCount()).toBe(0)
    await pass(60_000)
    expect(times).toEqual([])
  })
})

test.each([
  ['memory', ({ findTeam: _, ...options }: ManagedStoreOptions) => createMemoryStore(options)],
  ['SQLite', (options: ManagedStoreOptions) => createSqliteStore({ ...options, database: openDatabase() })],
])('while the loop drains 5,000 changes from %s, other work runs between any two of its pushes', async (_, open) => {
  vi.useRealTimers()
  let isOpen = false
  const turnsAtPushes: number[] = []
  const store = open({
    findTeam: () => null,
    synchronize() {
      if (isOpen) turnsAtPushes.push(turns)
    },
  })
  for (let start = 0; start < 5; start += 1) {
    const saved = await save(store, '1', manyDomains(1000, `a${start}-`))
    await store.synchronize?.(saved)
    await store.release('1', toDomains(saved))
  }
  isOpen = true
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const drained = new Promise<void>(resolve => {
    const { stop } = startSynchronizing(store, { onSweep: ({ synchronized }) => synchronized === 0 && resolve(stop()) })
  })
  await drained
  isOver = true
  expect(turnsAtPushes).toHaveLength(5)
  expect(new Set(turnsAtPushes).size).toBe(5)
})

test.each([
  ['a missing store', undefined, {}],
  ['a store without synchronizePending', { findTeam: () => null }, {}],
  ['an invalid interval', { synchronizePending: async () => none }, { interval: Number.NaN }],
])('startSynchronizing rejects %s with a TypeError', (_, store, options) => {
  expect(() => startSynchronizing(store as never, options)).toThrow(TypeError)
})

test('the loop does not keep its process alive', () => {
  const program = `
    import { createMemoryStore, startSynchronizing } from './src/index.ts'
    startSynchronizing(createMemoryStore({ synchronize: () => {} }))`
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: root,
    timeout: 30_000,
  })
})
