import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { MonitorUnavailableError } from '../../src/outbox/contract.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import { createManagedStore, type StoreBackend } from '../../src/store/managed-store.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { createRandom, type Random } from '../random.ts'
import { openDatabase } from '../sqlite/open-database.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Answer = (signal: AbortSignal) => unknown

const throws = (toError: () => Error) => () => {
  throw toError()
}
const unavailable = (status: number, retryAfter?: number) =>
  throws(() => new MonitorUnavailableError(`The monitor returned ${status}`, { retryAfter }))

/** The answers of a monitor to a push with a change that it does not accept. */
const answers: readonly Answer[] = [
  throws(() => new Error('The monitor returned 400')),
  throws(() => new Error('The monitor returned 500')),
  unavailable(502),
  unavailable(503),
  unavailable(503, 0),
  unavailable(503, 2_000),
  unavailable(429, 30_000),
  throws(() => new MonitorUnavailableError('The monitor cannot be reached', { cause: new Error('read ECONNRESET') })),
  signal => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
]

interface World {
  readonly size: number
  readonly batchSize: number | undefined
  /** Whether each sweep runs in a new process. */
  readonly isCold: boolean
  /** For each change that the monitor does not accept: its answer. */
  readonly bad: ReadonlyMap<string, Answer>
}

/** What a monitor answers may depend on all, some or one kind of failure, and on few or most of the changes. */
function createWorld(random: Random): World {
  const size = random.integer(1, random.chance(0.5) ? 200 : 12)
  const share = random.fraction()
  const kinds = answers.filter(() => random.chance(0.5))
  const bad = new Map<string, Answer>()
  for (const domain of manyDomains(size))
    if (random.chance(share)) bad.set(domain, random.pick(kinds.length > 0 ? kinds : answers))
  return { size, bad, batchSize: random.chance(0.75) ? random.integer(1, 100) : undefined, isCold: random.chance(0.5) }
}

/** Waits for a promise while fake time passes. */
async function settle<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false
  const settled = promise.finally(() => {
    isSettled = true
  })
  settled.catch(() => {})
  for (let turns = 0; !isSettled; turns += 1) await (turns < 9 ? Promise.resolve() : vi.advanceTimersToNextTimerAsync())
  return settled
}

/** Makes changes pending, sweeps until all good ones have been accepted, and checks what the policy promises. */
async function follow({ size, bad, batchSize, isCold }: World, random: Random, backend: StoreBackend): Promise<void> {
  vi.spyOn(Math, 'random').mockImplementation(() => random.fraction()) // so that a seed repeats
  let isOpen = false
  let pushes = 0
  let hasAccepted = false
  const accepted = new Set<string>()
  const connect = () =>
    createManagedStore(backend, {
      findTeam: id => ({ id, organizationId: '10', state: 'active' }),
      batchSize,
      onError() {},
      synchronize(changes, { signal }) {
        if (!isOpen) return
        pushes += 1
        const failing = changes.filter(({ domain }) => bad.has(domain))
        if (failing.length > 0) return bad.get(random.pick(failing).domain)?.(signal)
        hasAccepted = true
        for (const { domain } of changes) accepted.add(domain)
      },
    })
  let store = connect()
  const domains = manyDomains(size)
  for (let start = 0; start < size; start += 100) {
    const some = domains.slice(start, start + 100)
    const saved = await save(store, '1', some)
    await store.synchronize?.(saved)
    await store.release('1', some)
  }
  isOpen = true
  // While none is accepted, a sweep asks about three others, and each accepted one may be the last for a while.
  const most = (size - bad.size + 2) * (size / 3 + 20)
  let mostPushes = 8
  for (let sweeps = 0; accepted.size < size - bad.size; sweeps += 1) {
    expect(sweeps, `${accepted.size} of ${size - bad.size} good changes were accepted`).toBeLessThan(most)
    pushes = 0
    hasAccepted = false
    if (isCold) store = connect()
    await settle(store.synchronizePending())
    if (!hasAccepted) {
      expect(pushes, 'pushes of a sweep in which nothing was accepted').toBeLessThanOrEqual(mostPushes)
      if (pushes > 0 && !isCold) mostPushes = 3
    } else mostPushes = 8
    await vi.advanceTimersByTimeAsync(5_000)
  }
  expect((await store.listPending()).map(({ domain }) => domain).sort()).toEqual([...bad.keys()].sort())
}

describe('whatever a monitor answers to each change, all changes that it accepts alone are accepted soon', () => {
  test(`by ${counts.monitors} random monitors, with the memory store`, async () => {
    for (let index = 0; index < counts.monitors; index += 1) {
      const random = createRandom(seed + index)
      const world = createWorld(random)
      await follow(world, random, createMemoryBackend()).catch(error => {
        throw new Error(`SEED=${seed + index}: ${error}`)
      })
    }
  }, 3_600_000)

  test('by some random monitors, with SQLite', async () => {
    for (let index = 0; index < 12; index += 1) {
      const random = createRandom(seed + index)
      await follow(createWorld(random), random, createSqliteBackend({ database: openDatabase() }))
    }
  })
})
