import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryStore, type MemoryStore } from '../../src/memory/memory-store.ts'
import type { Name } from '../../src/registry/name.ts'
import type { Change, Found, Registration } from '../../src/registry/store.ts'
import { counts, seed } from '../counts.ts'
import { shrinkingAtMost } from '../shrinking.ts'

/**
 * The memory store against a plain list of what is held, searched from end to end with the words of the contract: over
 * random sequences of calls, on so few names that they meet, and so many that a registrable domain outgrows its small
 * form.
 */

const labels = ['a', 'b', 'c']
const prefixes = ['', ...labels, ...labels.flatMap(x => labels.map(y => `${x}.${y}`)), 'a.b.c', 'b.b.c', 'a.a.b.c']
const names = ['example.com', 'example.co.uk'].flatMap(registrableDomain =>
  prefixes.flatMap(prefix => {
    const domain = prefix === '' ? registrableDomain : `${prefix}.${registrableDomain}`
    return [domain, `*.${domain}`].map((each): Name => ({ domain: each, registrableDomain }))
  }),
)
const bases = names.filter(({ domain }) => !domain.startsWith('*.'))
const teamIds = ['1', '2', '3']

const team = fc.constantFrom(...teamIds)
const someNames = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 12 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('register' as const), team, names: someNames }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('release' as const), team, names: someNames }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('empty' as const), team }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('push' as const),
      limit: fc.integer({ min: 0, max: 9 }),
      fails: fc.boolean(),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test(`does what a plain list does (seed ${seed})`, async () => {
  const seen = { largest: 0, emptied: 0, pushed: 0, foreign: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40 }),
      shrinkingAtMost(100, async steps => {
        const run = start()
        for (const each of steps) {
          await run.take(each)
          run.compare()
          seen.largest = Math.max(seen.largest, run.held.filter(isInCom).length)
        }
        seen.emptied += run.counts.emptied
        seen.pushed += run.counts.pushed
        seen.foreign += run.counts.foreign
      }),
    ),
    { seed, numRuns: counts.sequences },
  )
  expect(seen.largest, 'more than a short list holds').toBeGreaterThan(16)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})

const isCovered = (domain: string, base: string) => domain.endsWith(`.${base}`) && domain !== `*.${base}`
const isInCom = ({ registrableDomain }: Name) => registrableDomain === 'example.com'

function start() {
  const counts = { emptied: 0, pushed: 0, foreign: 0 }
  let held: Registration[] = []
  /** What the monitor has not heard of: first what was swept up the longest ago, or came before. */
  let waiting: Change[] = []
  /** Whether sweeps have found the monitor away since anything went through: some changes then go alone first. */
  let isDoubted = false
  let push: (changes: readonly Change[]) => void = () => {}
  const store = createMemoryStore({ synchronize: changes => push(changes) })
  const toChange = ({ synchronized, ...rest }: Registration, kind: Change['kind']): Change => ({ kind, ...rest })

  /** Asks the store for everything, from the point of view of each team. */
  function compare(): void {
    expect(store.countPending()).toBe(waiting.length)
    expectEqual(store.list(), held)
    expectEqual(
      store.list({ teamId: '2', after: held[3]?.domainId, limit: 5 }),
      held
        .slice(held.length > 3 ? 4 : 0)
        .filter(({ teamId }) => teamId === '2')
        .slice(0, 5),
    )
    const coveredBy = bases.map(base => held.filter(({ domain }) => isCovered(domain, base.domain)))
    for (const teamId of teamIds) {
      const found = look(store, teamId)
      expectEqual(sorted(found.registrations), sorted(held))
      const expected = coveredBy.map(covered => {
        const own = covered.filter(registration => registration.teamId === teamId).map(({ domain }) => domain)
        return { own, heldByOthers: covered.length > own.length }
      })
      expectEqual(
        found.below.map(({ ownDomains, ...rest }, index) => ({
          ...rest,
          samples: new Set(ownDomains.filter(domain => expected[index]?.own.includes(domain))).size,
          named: ownDomains.length,
        })),
        expected.map(({ own, heldByOthers }) => ({
          ownCount: own.length,
          heldByOthers,
          samples: Math.min(3, own.length),
          named: Math.min(3, own.length),
        })),
      )
      counts.foreign += found.below.filter(below => below.heldByOthers).length
    }
  }

  async function take(taken: Step): Promise<void> {
    if (taken.type === 'push') {
      const expected = waiting.slice(0, taken.limit)
      const pushes: (readonly Change[])[] = []
      push = changes => {
        pushes.push(changes)
        if (taken.fails) throw new Error('offline')
      }
      // Longer than any lease and any wait.
      vi.advanceTimersByTime(2 * 3_600_000)
      const outcome = await store.synchronizePending({ limit: taken.limit })
      const { length } = expected
      expect(outcome).toEqual(taken.fails ? { synchronized: 0, failed: length } : { synchronized: length, failed: 0 })
      if (length === 0) {
        expect(pushes).toEqual([])
        return
      }
      const rest = waiting.slice(length)
      if (isDoubted) expect(pushes[0]).toHaveLength(1)
      else expect(pushes[0]).toEqual(expected)
      if (taken.fails) {
        expect(expected).toEqual(expect.arrayContaining(pushes.flat()))
        const alone = new Set(pushes.flatMap(([first, ...others]) => (others.length === 0 ? [first?.domainId] : [])))
        isDoubted ||= alone.size < length
        waiting = [...rest, ...expected]
        return
      }
      const byId = (one: Change, other: Change) => (one.domainId < other.domainId ? -1 : 1)
      if (isDoubted) expect(pushes.flat().sort(byId)).toEqual(expected.toSorted(byId))
      else expect(pushes).toHaveLength(1)
      counts.pushed += length
      isDoubted = false
      waiting = rest
      const isPushed = ({ domainId }: Registration) => expected.some(change => change.domainId === domainId)
      held = held.map(each => (isPushed(each) ? { ...each, synchronized: true } : each))
      return
    }
    if (taken.type === 'register') {
      const request = { teamId: taken.team, registrableDomains: [], names: taken.names, wildcardBases: [] }
      const decide = (found: Found) =>
        taken.names.filter(name => !found.registrations.some(({ domain }) => domain === name.domain))
      const { saved } = await store.register({ ...request, decide })
      const created = taken.names.filter(name => !held.some(({ domain }) => domain === name.domain))
      expect(saved).toEqual(
        created.map(name => ({ ...name, teamId: taken.team, synchronized: false, domainId: expect.any(String) })),
      )
      held.push(...saved)
      waiting.push(...saved.map(registration => toChange(registration, 'registered')))
      return
    }
    const given = taken.type === 'empty' ? names : taken.names
    const released = given.flatMap(({ domain }) =>
      held.filter(registration => registration.domain === domain && registration.teamId === taken.team),
    )
    expect(
      store.release(
        taken.team,
        given.map(({ domain }) => domain),
      ),
    ).toEqual(released)
    held = held.filter(registration => !released.includes(registration))
    for (const registration of released) {
      const index = waiting.findIndex(({ domainId }) => domainId === registration.domainId)
      waiting.splice(index < 0 ? waiting.length : index, 1, toChange(registration, 'released'))
    }
    if (released.length > 0 && held.length === 0) counts.emptied += 1
  }

  return {
    counts,
    take,
    compare,
    get held() {
      return held
    },
  }
}

/** As `toEqual`, in a fraction of its time where both are the same. */
function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

function look(store: MemoryStore, teamId: string): Found {
  let seen: Found | undefined
  store.register({
    teamId,
    registrableDomains: [],
    names,
    wildcardBases: bases,
    decide(found) {
      seen = found
      return []
    },
  })
  if (!seen) throw new Error('The store did not call decide')
  return seen
}

const sorted = (registrations: readonly Registration[]) =>
  [...registrations].sort((one, other) => (one.domainId < other.domainId ? -1 : 1))
