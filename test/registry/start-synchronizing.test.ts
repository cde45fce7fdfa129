import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startSynchronizing } from '../../src/index.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import type { SweepOptions, SweepResult } from '../../src/registry/outbox.ts'
import { createStore, rejection, team1 } from '../fixtures.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const none = { synchronized: 0, failed: 0 }
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

/** A store of which each sweep ends as is said, and the times of its sweeps. */
function createSweeps(sweep: (options?: SweepOptions) => Promise<SweepResult>) {
  const times: number[] = []
  const start = Date.now()
  const synchronizePending = (options?: SweepOptions) => {
    times.push(Date.now() - start)
    return sweep(options)
  }
  return { store: { synchronizePending }, times }
}

describe('the loop', () => {
  test('begins at once, and sweeps again after each pause', async () => {
    const { store, times } = createSweeps(async () => none)
    const { stop } = startSynchronizing(store, { interval: 100 })
    await pass(350)
    await stop()
    expect(times).toEqual([0, 100, 200, 300])
  })

  test('goes on without a pause while something goes through', async () => {
    let left = 3
    const { store, times } = createSweeps(async () => (left-- > 0 ? { synchronized: 1000, failed: 1 } : none))
    const { stop } = startSynchronizing(store, { interval: 100 })
    await pass(150)
    await stop()
    expect(times).toEqual([0, 0, 0, 0, 100])
  })

  test('never has two sweeps at once, however long one takes', async () => {
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

  test('slows down while nothing goes through, up to a minute, and comes back with the first success', async () => {
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
    ['that says for how long is asked then', { retryAfter: 3_000 }, [0, 3_010, 13_010]],
    ['that says for how long is asked within a minute', { retryAfter: 3_600_000 }, [0, 60_000]],
    ['that does not say for how long is asked after the interval', { retryAfter: undefined }, [0, 10_000, 20_000]],
  ])('a monitor that takes some changes, is unavailable, and %s', async (_, unavailable, expected) => {
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
  })

  test('an unavailable monitor that takes nothing is asked less and less, whatever it says', async () => {
    const unavailable = { retryAfter: 500 }
    const { store, times } = createSweeps(async () => ({ synchronized: 0, failed: 5, unavailable }))
    const { stop } = startSynchronizing(store)
    await pass(61_000)
    await stop()
    expect(times).toEqual([0, 20_000, 60_000])
  })

  test('tells onError of a store that cannot be asked, goes on, and minds nothing that onError does', async () => {
    const onError = vi.fn(() => Promise.reject(new Error('the log is away')))
    const { store, times } = createSweeps(() => Promise.reject(new Error('no database')))
    const { stop } = startSynchronizing(store, { interval: 1_000, onError })
    await pass(3_000)
    await stop()
    expect(times).toEqual([0, 2_000])
    expect(onError.mock.calls).toEqual([[new Error('no database')], [new Error('no database')]])
  })

  test('tells onSweep the result of each sweep, and minds nothing that onSweep does', async () => {
    const onSweep = vi.fn(() => {
      throw new Error('the metrics are away')
    })
    const { store } = createSweeps(async () => ({ synchronized: 0, failed: 2 }))
    const { stop } = startSynchronizing(store, { interval: 1_000, onSweep })
    await pass(2_500)
    await stop()
    expect(onSweep.mock.calls).toEqual(Array(2).fill([{ synchronized: 0, failed: 2 }]))
  })

  test('hands its onError to the sweep, which tells it each change', async () => {
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

describe('stop', () => {
  test('waits for the sweep that is under way, and no sweep comes after it', async () => {
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
    await pass(1_000)
    expect(times).toEqual([0])
  })

  test.each([
    [500, 250],
    [5_000, 4_000],
  ])('takes at most its %i ms: after %i ms the push is aborted, whether it hears that or not', async (limit, abort) => {
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
      stop({ timeLimit: limit }).then(settled)
      await pass(abort - 1)
      expect([reason, settled.mock.calls.length]).toEqual([undefined, 0])
      await pass(1)
      expect(reason).toEqual(new Error('Synchronizing was stopped'))
      expect(settled).toHaveBeenCalledTimes(isHeard ? 1 : 0)
      await pass(limit - abort)
      expect(settled).toHaveBeenCalledTimes(1)
    }
  })

  test('refuses a time limit that is no time', async () => {
    const { stop } = startSynchronizing(createSweeps(async () => none).store)
    await expect(stop({ timeLimit: Number.NaN })).rejects.toThrow('"timeLimit" must be a number of milliseconds')
    await stop()
  })

  test('before the first sweep ends the loop at once, and twice is as good as once', async () => {
    const { store, times } = createSweeps(async () => none)
    const { stop } = startSynchronizing(store)
    await stop()
    await stop()
    await pass(60_000)
    expect(times).toEqual([])
  })
})

test.each([
  ['no store', undefined, {}],
  ['a store without sweeps', { findTeam: () => null }, {}],
  ['a pause that is none', { synchronizePending: async () => none }, { interval: Number.NaN }],
])('%s is refused with a TypeError', (_, store, options) => {
  expect(() => startSynchronizing(store as never, options)).toThrow(TypeError)
})

test('a process with nothing else to do ends', () => {
  const program = `
    import { createMemoryStore, startSynchronizing } from './src/index.ts'
    startSynchronizing(createMemoryStore({ synchronize: () => {} }))`
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: root,
    timeout: 30_000,
  })
})
