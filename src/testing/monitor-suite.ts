import type { Push } from '../registry/outbox.ts'
import type { Change } from '../registry/store.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline } from '../time/deadline.ts'
import { toTestName } from './calls.ts'
import { checkEqual, checkRejects, describeFailedCase } from './check.ts'
import type { StoreCase } from './store-case.ts'

/** A monitor of yours, behind the push that you pass to a store as `synchronize`. */
export interface MonitorUnderTest {
  readonly push: Push
  /** Returns the `domainId` of everything that is watched, each once, in any order. */
  watched(): Awaitable<readonly string[]>
}

/** Options of {@link monitorSuite}. */
export interface MonitorSuiteOptions<Monitor extends MonitorUnderTest = MonitorUnderTest> {
  /** Makes a monitor that watches nothing. Called once for each case. */
  createMonitor(): Awaitable<Monitor>
  /** Closes a monitor of {@link createMonitor}, whether its case passed or not. */
  closeMonitor?: ((monitor: Monitor) => Awaitable<unknown>) | undefined
  /** A hostname that the monitor refuses, whatever the change. Without it, the case of a refusal is not in the list. */
  refused?: string | undefined
  /** Milliseconds after which a case counts as hung. Default 4,000. */
  timeLimit?: number | undefined
}

interface MonitorCase {
  readonly id: string
  readonly name: `MUST ${string}`
  /** Whether the case needs a hostname that is refused. Default false. */
  readonly needsRefused?: boolean
  test(monitor: MonitorUnderTest, refused: string): Promise<void>
}

/**
 * The conformance suite for a push of your own, and the monitor behind it. Stores deliver each change at least once:
 * it may come twice, late, or after a later change of the same registration. What is watched must be what is
 * registered all the same. It works with any test runner, as {@link domainStoreSuite} does.
 *
 * @returns The cases, always in the same order.
 *
 * @example
 * import { monitorSuite } from 'domain-registration/testing'
 * import { test } from 'vitest'
 *
 * const cases = monitorSuite({
 *   createMonitor: () => ({
 *     push: changes => monitor.apply(changes),
 *     watched: () => monitor.listIds(),
 *   }),
 *   refused: 'refused.example.com',
 * })
 * for (const { name, run } of cases) test(name, run)
 */
export function monitorSuite<Monitor extends MonitorUnderTest>({
  createMonitor,
  closeMonitor,
  refused,
  timeLimit = 4000,
}: MonitorSuiteOptions<Monitor>): readonly StoreCase[] {
  async function run({ id, test }: MonitorCase): Promise<void> {
    const monitor = await createMonitor()
    try {
      await createDeadline(timeLimit).wait(test(monitor, refused ?? ''))
    } catch (cause) {
      throw new Error(`${id}: ${describeFailedCase(cause)}`, { cause })
    } finally {
      await closeMonitor?.(monitor)
    }
  }
  const listed = cases.filter(({ needsRefused = false }) => !needsRefused || refused !== undefined)
  return listed.map(each => ({ id: each.id, level: 'MUST', name: each.name, run: () => run(each) }))
}

const toChange = (kind: Change['kind'], domainId: string, domain = `${domainId}.example.com`): Change => ({
  kind,
  domainId,
  teamId: '1',
  at: new Date(),
  ...toTestName(domain),
})
const registered = (...ids: string[]) => ids.map(id => toChange('registered', id))
const released = (...ids: string[]) => ids.map(id => toChange('released', id))

const push = async ({ push }: MonitorUnderTest, changes: readonly Change[], signal = new AbortController().signal) => {
  await push(changes, { signal })
}

async function checkWatched(monitor: MonitorUnderTest, ...ids: string[]): Promise<void> {
  checkEqual('what is watched', (await monitor.watched()).toSorted(), ids.toSorted())
}

const cases: readonly MonitorCase[] = [
  {
    id: 'watches-what-is-registered',
    name: 'MUST watch what a push registered once it has resolved, and nothing that a push released',
    async test(monitor) {
      await checkWatched(monitor)
      await push(monitor, registered('a', 'b'))
      await checkWatched(monitor, 'a', 'b')
      await push(monitor, [...released('a'), ...registered('c')])
      await checkWatched(monitor, 'b', 'c')
    },
  },
  {
    id: 'takes-a-thousand-changes',
    name: 'MUST take a push of a thousand changes',
    async test(monitor) {
      const ids = Array.from({ length: 1000 }, (_, index) => `n${index}`)
      await push(monitor, registered(...ids))
      await checkWatched(monitor, ...ids)
    },
  },
  {
    id: 'same-change-twice',
    name: 'MUST take the same change twice, as if it had come once',
    async test(monitor) {
      await push(monitor, registered('a', 'b'))
      await push(monitor, registered('b', 'a'))
      await checkWatched(monitor, 'a', 'b')
      await push(monitor, released('a'))
      await push(monitor, released('a'))
      await checkWatched(monitor, 'b')
    },
  },
  {
    id: 'registered-after-released',
    name: 'MUST ignore that an ID was registered once it has heard that the ID was released',
    async test(monitor) {
      await push(monitor, registered('a'))
      await push(monitor, released('a', 'never-heard-of'))
      await push(monitor, registered('a', 'never-heard-of'))
      await checkWatched(monitor)
    },
  },
  {
    id: 'a-name-with-a-new-id',
    name: 'MUST watch by ID: a name that is registered again is watched although its old ID is released late',
    async test(monitor) {
      await push(monitor, [toChange('registered', 'old', 'example.com')])
      await push(monitor, [toChange('registered', 'new', 'example.com')])
      await push(monitor, [toChange('released', 'old', 'example.com')])
      await checkWatched(monitor, 'new')
    },
  },
  {
    id: 'half-a-batch-fails',
    name: 'MUST reject a push of which a change fails, and take the others when they come again',
    needsRefused: true,
    async test(monitor, refused) {
      const batch = [...registered('a'), toChange('registered', 'bad', refused), ...registered('b')]
      await checkRejects('a push with a refused change', () => push(monitor, batch))
      await checkRejects('the refused change alone', () => push(monitor, batch.slice(1, 2)))
      for (const change of [batch[0], batch[2]]) if (change) await push(monitor, [change])
      await checkWatched(monitor, 'a', 'b')
    },
  },
  {
    id: 'push-that-counted-as-failed',
    name: 'MUST follow what comes after a push that was given up and goes through late',
    async test(monitor) {
      const givenUp = new AbortController()
      const late = Promise.allSettled([push(monitor, registered('a', 'b'), givenUp.signal)])
      givenUp.abort(new Error('the push was given up, on purpose'))
      await push(monitor, [...released('a'), ...registered('b')])
      await late
      await checkWatched(monitor, 'b')
    },
  },
  {
    id: 'two-pushes-at-once',
    name: 'MUST take two pushes at once, of the same changes and of others',
    async test(monitor) {
      const ids = Array.from({ length: 20 }, (_, index) => `n${index}`)
      await Promise.all([
        push(monitor, registered(...ids.slice(0, 15))),
        push(monitor, registered(...ids.slice(5))),
        push(monitor, released('n3', 'n17')),
      ])
      await checkWatched(monitor, ...ids.filter(id => id !== 'n3' && id !== 'n17'))
    },
  },
]
