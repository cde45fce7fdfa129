import type { Push } from '../outbox/contract.ts'
import type { Change } from '../rules/registration.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline } from '../time/deadline.ts'
import { toTestName } from './calls.ts'
import { checkEqual, checkRejects, describeFailedCase } from './check.ts'
import type { StoreCase } from './store-case.ts'

/** Your monitor, and the push that you pass to a store as `synchronize`. */
export interface MonitorUnderTest {
  readonly push: Push
  /** Returns the `domainId` of each watched registration, in any order and without duplicates. */
  watched(): Awaitable<readonly string[]>
}

/** Options of {@link monitorSuite}. */
export interface MonitorSuiteOptions<Monitor extends MonitorUnderTest = MonitorUnderTest> {
  /** Creates a monitor that watches nothing. Called once for each case. */
  createMonitor(): Awaitable<Monitor>
  /** Closes a monitor that {@link createMonitor} returned, whether or not its case passed. */
  closeMonitor?: ((monitor: Monitor) => Awaitable<unknown>) | undefined
  /**
   * A hostname whose changes the monitor always refuses. If no hostname is given, the case about refusals is left out.
   */
  refused?: string | undefined
  /** The time limit of a case, in milliseconds. Default 4,000. */
  timeLimit?: number | undefined
}

interface MonitorCase {
  readonly id: string
  readonly name: `MUST ${string}`
  /** Whether the case needs a hostname whose changes the monitor refuses. Default false. */
  readonly needsRefused?: boolean
  test(monitor: MonitorUnderTest, refused: string): Promise<void>
}

/**
 * Returns the conformance suite for your push and your monitor. Stores deliver each change at least once: a change may
 * arrive twice, late, or after a later change of the same registration. Even so, the monitor must end up watching
 * exactly the registered names. The suite works with any test runner, like {@link domainStoreSuite}.
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
  checkEqual('the watched names', (await monitor.watched()).toSorted(), ids.toSorted())
}

const cases: readonly MonitorCase[] = [
  {
    id: 'watches-what-is-registered',
    name: 'MUST start watching registered names, and stop watching released ones, before a push resolves',
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
    name: 'MUST accept a push of a thousand changes',
    async test(monitor) {
      const ids = Array.from({ length: 1000 }, (_, index) => `n${index}`)
      await push(monitor, registered(...ids))
      await checkWatched(monitor, ...ids)
    },
  },
  {
    id: 'same-change-twice',
    name: 'MUST treat a change that is pushed twice as if it were pushed once',
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
    name: 'MUST ignore a registration that arrives after the release of the same ID',
    async test(monitor) {
      await push(monitor, registered('a'))
      await push(monitor, released('a', 'never-heard-of'))
      await push(monitor, registered('a', 'never-heard-of'))
      await checkWatched(monitor)
    },
  },
  {
    id: 'a-name-with-a-new-id',
    name: 'MUST keep watching a re-registered name even if the release of its old ID arrives late',
    async test(monitor) {
      await push(monitor, [toChange('registered', 'old', 'example.com')])
      await push(monitor, [toChange('registered', 'new', 'example.com')])
      await push(monitor, [toChange('released', 'old', 'example.com')])
      await checkWatched(monitor, 'new')
    },
  },
  {
    id: 'half-a-batch-fails',
    name: 'MUST reject a push if one change fails, and accept the others when they are pushed again',
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
    name: 'MUST keep the state of a push if an earlier, aborted push arrives after it',
    async test(monitor) {
      const givenUp = new AbortController()
      const late = Promise.allSettled([push(monitor, registered('a', 'b'), givenUp.signal)])
      givenUp.abort(new Error('the push was aborted, on purpose'))
      await push(monitor, [...released('a'), ...registered('b')])
      await late
      await checkWatched(monitor, 'b')
    },
  },
  {
    id: 'two-pushes-at-once',
    name: 'MUST apply all changes of simultaneous pushes, even if the pushes share some changes',
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
