import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/index.ts'
import { type MonitorUnderTest, monitorSuite } from '../../src/testing/index.ts'

/** The parts of a monitor, each of which a test can replace with a defective one. */
interface Parts {
  keyOf(change: Change): string
  hear(heard: Map<string, Change>, key: string, change: Change): void
  /** Handles a push if the monitor refuses some of the changes. */
  take(changes: readonly Change[], hear: (change: Change) => void): Promise<void>
  list(heard: ReadonlyMap<string, Change>): string[]
}

const REFUSED = 'refused.example.com'
const pause = () => new Promise<void>(resolve => setTimeout(resolve, 1))

const sound: Parts = {
  keyOf: ({ domainId }) => domainId,
  hear(heard, key, change) {
    if (heard.get(key)?.kind !== 'released') heard.set(key, change)
  },
  async take(changes, hear) {
    await pause()
    for (const change of changes) if (change.domain !== REFUSED) hear(change)
    if (changes.some(({ domain }) => domain === REFUSED)) throw new Error('One change is refused')
  },
  list: heard => [...heard.values()].filter(({ kind }) => kind === 'registered').map(({ domainId }) => domainId),
}

function createMonitor(changes: Partial<Parts> = {}): MonitorUnderTest {
  const parts = { ...sound, ...changes }
  const heard = new Map<string, Change>()
  return {
    push: pushed => parts.take(pushed, change => parts.hear(heard, parts.keyOf(change), change)),
    watched: () => parts.list(heard),
  }
}

const broken: readonly (readonly [id: string, breaks: string, create: () => MonitorUnderTest])[] = [
  [
    'watches-what-is-registered',
    'never stops watching',
    () => createMonitor({ list: heard => [...heard.values()].map(({ domainId }) => domainId) }),
  ],
  [
    'takes-a-thousand-changes',
    'accepts only the first hundred changes of a push',
    () => createMonitor({ take: (changes, hear) => sound.take(changes.slice(0, 100), hear) }),
  ],
  [
    'same-change-twice',
    'refuses a change that it has received before',
    () => {
      const seen = new Set<string>()
      return createMonitor({
        take(changes, hear) {
          const isOld = changes.some(({ kind, domainId }) => seen.has(`${kind} ${domainId}`))
          if (isOld) throw new Error('Duplicate key')
          for (const { kind, domainId } of changes) seen.add(`${kind} ${domainId}`)
          return sound.take(changes, hear)
        },
      })
    },
  ],
  [
    'registered-after-released',
    'keeps the state of the change that arrived last',
    () => createMonitor({ hear: (heard, key, change) => void heard.set(key, change) }),
  ],
  [
    'a-name-with-a-new-id',
    'watches names, not IDs',
    () => createMonitor({ keyOf: ({ domain }) => domain, hear: (heard, key, change) => void heard.set(key, change) }),
  ],
  [
    'half-a-batch-fails',
    'accepts a push although it refuses one of the changes',
    () =>
      createMonitor({
        take: (changes, hear) =>
          sound.take(
            changes.filter(({ domain }) => domain !== REFUSED),
            hear,
          ),
      }),
  ],
  [
    'push-that-counted-as-failed',
    'forgets released IDs, so a late push restores them',
    () => {
      let isFirst = true
      return createMonitor({
        hear: (heard, key, change) => void (change.kind === 'registered' ? heard.set(key, change) : heard.delete(key)),
        async take(changes, hear) {
          const isLate = isFirst
          isFirst = false
          if (isLate) for (let turns = 0; turns < 5; turns += 1) await pause()
          await sound.take(changes, hear)
        },
      })
    },
  ],
  [
    'two-pushes-at-once',
    'loses the changes of a simultaneous push',
    () => {
      let saved: readonly Change[] = []
      return {
        async push(changes) {
          const before = saved
          await pause()
          saved = [...before, ...changes]
        },
        watched() {
          const released = new Set(saved.filter(({ kind }) => kind === 'released').map(({ domainId }) => domainId))
          return [...new Set(saved.map(({ domainId }) => domainId))].filter(id => !released.has(id))
        },
      }
    },
  ],
]

const cases = monitorSuite({ createMonitor: () => createMonitor(), refused: REFUSED })

describe('the cases of the monitor suite', () => {
  test.each(cases.map(({ name, run }) => [name, run] as const))('pass on a correct monitor: %s', (_, run) => run())

  test('each catch a broken monitor', () => {
    expect(broken.map(([id]) => id)).toEqual(cases.map(({ id }) => id))
  })

  test.each(broken)('%s catches a monitor that %s', async (id, _, create) => {
    const found = monitorSuite({ createMonitor: create, refused: REFUSED }).find(each => each.id === id)
    await expect(found?.run()).rejects.toThrow(/: expected .+, got /s)
  })

  test('include the case about refusals only if the options name a refused hostname', () => {
    const ids = monitorSuite({ createMonitor: () => createMonitor() }).map(({ id }) => id)
    expect(ids).toEqual(cases.map(({ id }) => id).filter(id => id !== 'half-a-batch-fails'))
  })

  test('close every monitor, and fail if a push hangs', async () => {
    const closed: unknown[] = []
    const hanging = { push: () => new Promise(() => {}), watched: () => [] }
    const [first] = monitorSuite({
      createMonitor: () => hanging,
      closeMonitor: monitor => closed.push(monitor),
      timeLimit: 20,
    })
    await expect(first?.run()).rejects.toThrow('watches-what-is-registered: expected a response, got none')
    expect(closed).toEqual([hanging])
  })
})
