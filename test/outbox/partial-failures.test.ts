import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Change, createMemoryStore, type Push, startSynchronizing } from '../../src/index.ts'
import { MonitorUnavailableError } from '../../src/outbox/contract.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const BATCH_SIZE = 100

/** A push that splits changes into requests, as `createWebhook` does, and counts how often each change is sent. */
function createReceiver(answer: (changes: readonly Change[], request: number) => unknown) {
  const receiver = { requests: 0, sent: new Map<string, number>(), accepted: new Set<string>() }
  const push = async (changes: readonly Change[]) => {
    for (let start = 0; start < changes.length; start += BATCH_SIZE) {
      const batch = changes.slice(start, start + BATCH_SIZE)
      receiver.requests += 1
      for (const { domain } of batch) receiver.sent.set(domain, (receiver.sent.get(domain) ?? 0) + 1)
      await answer(batch, receiver.requests)
      for (const { domain } of batch) receiver.accepted.add(domain)
    }
  }
  const mostOften = () => Math.max(...receiver.sent.values())
  return { receiver, mostOften, push: Object.assign(push, { batchSize: BATCH_SIZE }) }
}

/** A store with pending releases, and the loop that pushes them. */
async function waitingFor(push: Push, count: number) {
  let isOpen = true
  const synchronize = Object.assign((...call: Parameters<Push>) => (isOpen ? undefined : push(...call)), {
    batchSize: BATCH_SIZE,
  })
  const store = createMemoryStore({ synchronize, onError: () => {} })
  const domains = manyDomains(count)
  for (let start = 0; start < count; start += BATCH_SIZE) {
    const some = domains.slice(start, start + BATCH_SIZE)
    await store.synchronize?.(await save(store, '1', some))
    await store.release('1', some)
  }
  isOpen = false
  return store
}

/** Runs the loop until nothing is pending. @returns How long that took, in milliseconds. */
async function runLoop(store: Awaited<ReturnType<typeof waitingFor>>, longest: number, isDone = 0): Promise<number> {
  const begun = Date.now()
  const { stop } = startSynchronizing(store)
  while ((await store.countPending()) > isDone && Date.now() - begun < longest) await vi.advanceTimersByTimeAsync(500)
  const took = Date.now() - begun
  const stopping = stop()
  await vi.advanceTimersToNextTimerAsync() // ends a pause between two sweeps
  await stopping
  return took
}

const unavailable = (retryAfter?: number) => new MonitorUnavailableError('429', { retryAfter })

describe('3,000 pending releases', () => {
  test('take one request per hundred if none fails', async () => {
    const { receiver, push } = createReceiver(() => {})
    await runLoop(await waitingFor(push, 3000), 60_000)
    expect([receiver.requests, receiver.accepted.size]).toEqual([30, 3000])
  })

  test.each([
    ['says when', (left: number) => left, 45, 6],
    ['does not say when', () => undefined, 120, 13],
  ])('are all delivered through a gateway that accepts 6 requests in 10 s and %s to retry', async (...row) => {
    const [, toRetryAfter, mostRequests, mostWindows] = row
    const window = 10_000
    const taken = new Map<number, number>()
    const { receiver, push, mostOften } = createReceiver(() => {
      const current = Math.floor(Date.now() / window)
      const inWindow = (taken.get(current) ?? 0) + 1
      taken.set(current, inWindow)
      if (inWindow > 6) throw unavailable(toRetryAfter((current + 1) * window - Date.now()))
    })
    const took = await runLoop(await waitingFor(push, 3000), 480_000)
    expect(receiver.accepted.size).toBe(3000)
    // The 3,000 releases need at least thirty requests, which the gateway accepts within five time windows.
    expect(receiver.requests).toBeLessThanOrEqual(mostRequests)
    expect(mostOften()).toBeLessThanOrEqual(6)
    expect(took).toBeLessThanOrEqual(mostWindows * window)
  })

  test('take at most 90 requests instead of 30 if every fifth gets a 500', async () => {
    const { receiver, push } = createReceiver((_, request) => {
      if (request % 5 === 3) throw new Error('500')
    })
    await runLoop(await waitingFor(push, 3000), 120_000)
    expect(receiver.accepted.size).toBe(3000)
    expect(receiver.requests).toBeLessThanOrEqual(90)
  })

  test('are all delivered, each sent at most three times, if every tenth request gets a 429', async () => {
    const { receiver, push, mostOften } = createReceiver((_, request) => {
      if (request % 10 === 3) throw unavailable()
    })
    await runLoop(await waitingFor(push, 3000), 60_000)
    expect(receiver.accepted.size).toBe(3000)
    expect(mostOften()).toBeLessThanOrEqual(3)
  })
})

describe('a refused change', () => {
  const isPoison = ({ domain }: Change) => domain === 'n77.com'

  test.each([
    ['an error', () => new Error('500')],
    ['a MonitorUnavailableError', () => unavailable()],
  ])('does not delay 999 other changes, even if each push that contains it fails with %s', async (_, fail) => {
    const { receiver, push } = createReceiver(changes => {
      if (changes.some(isPoison)) throw fail()
    })
    const store = await waitingFor(push, 1000)
    await runLoop(store, 3_600_000, 1)
    expect(receiver.accepted.size).toBe(999)
    expect(await store.listPending()).toMatchObject([{ domain: 'n77.com' }])
  })

  test.each([
    ['new', 0, 0],
    ['refused', 0.99, 1],
  ])('is pushed alone, after all new changes but for the first push, drawn for %s ones', async (_, lot, before) => {
    const { random } = Math
    const draw = vi.spyOn(Math, 'random').mockImplementation(random)
    const pushes: string[][] = []
    const refused = ['n3.com', 'n8.com']
    const { push } = createReceiver(changes => {
      pushes.push(changes.map(({ domain }) => domain))
      if (changes.some(({ domain }) => refused.includes(domain))) throw new Error('500')
    })
    const store = await waitingFor(push, 10)
    for (let round = 0; round < 2; round += 1) {
      await store.retryPending()
      await store.synchronizePending()
    }
    await store.retryPending()
    await Promise.allSettled([store.synchronize?.(await save(store, '1', manyDomains(3, 'new-')))])
    await store.release('1', manyDomains(3, 'new-'))
    pushes.length = 0
    draw.mockReturnValue(lot)
    expect(await store.synchronizePending()).toEqual({ synchronized: 3, failed: 2 })
    const [ofNew] = pushes.splice(before, 1)
    expect(ofNew).toEqual(manyDomains(3, 'new-'))
    expect(pushes.toSorted()).toEqual([['n3.com'], ['n8.com']])
  })

  test('among a thousand changes takes at most 25 pushes in the first sweep, and one in each later sweep', async () => {
    const { receiver, push } = createReceiver(changes => {
      if (changes.some(isPoison)) throw new Error('500')
    })
    const store = await waitingFor(push, 1000)
    expect(await store.synchronizePending()).toEqual({ synchronized: 999, failed: 1 })
    expect(receiver.requests).toBeLessThanOrEqual(25)
    for (let round = 1; round <= 8; round += 1) {
      const before = receiver.requests
      const [poison] = await store.listPending()
      expect(poison).toMatchObject({ domain: 'n77.com', refusals: round, lastFailure: 'Error: 500' })
      vi.setSystemTime(poison?.nextAttempt as Date)
      await vi.advanceTimersByTimeAsync(3_600_000)
      await store.synchronizePending()
      expect(receiver.requests).toBe(before + 1)
    }
  })
})
