import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { createRegistrationRequest } from '../../src/rules/judge.ts'
import { ancestorsOf, wildcardOver } from '../../src/rules/name.ts'
import type { Change, LookUpResult } from '../../src/rules/registration.ts'
import type { ListOptions } from '../../src/store/contract.ts'
import type { ManagedStore, ManagedStoreOptions } from '../../src/store/managed-store.ts'
import { counts, isLong, seed } from '../counts.ts'
import { names, team, teamIds } from '../few-names.ts'
import { shrinkingAtMost } from '../shrinking.ts'

const HOURS = 3_600_000
const now = performance.now.bind(performance)

const parted = ['a.example.com', 'b.a.example.com'].map(domain => ({ domain, registrableDomain: 'b.a.example.com' }))
const someNames = fc.uniqueArray(fc.constantFrom(...names, ...parted.slice(1)), {
  minLength: 1,
  maxLength: 5,
  selector: ({ domain }) => domain,
})

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('register' as const), team, names: someNames }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('release' as const), team, names: someNames, byId: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('synchronize' as const), names: someNames }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('sweep' as const),
      limit: fc.constantFrom(1, 100),
      refuses: fc.boolean(),
      clock: fc.constantFrom(0, 2 * HOURS, -72 * HOURS),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** A store that is compared with the memory store. */
export interface Modelled {
  /** Creates an empty store. */
  create(options: Required<Pick<ManagedStoreOptions, 'findTeam' | 'synchronize' | 'onError'>>): Promise<ManagedStore>
  /** Makes all pending changes due earlier, by this many milliseconds. */
  hasten(milliseconds: number): Promise<unknown>
}

/**
 * Makes random sequences of calls on a store and on the memory store, and compares the results. There are so few
 * names that they often overlap. Some of these names were registered under a suffix list in which `a.example.com` is a
 * public suffix.
 */
export function testAgainstMemory(name: string, open: () => Modelled): void {
  test(`random calls return the same in ${name} as in memory (seed ${seed})`, { timeout: 600_000 }, async () => {
    const seen = { pushed: 0, refused: 0, released: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        shrinkingAtMost(100, async steps => {
          const run = await start(open(), seen)
          for (const each of steps) {
            await run.take(each)
            await run.compare()
          }
          vi.restoreAllMocks()
        }),
      ),
      { seed, numRuns: counts.sequences },
    )
    if (isLong) for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  })
}

/** A store, its pushed changes, and the ID of each name in it: each store generates different IDs. */
interface Side {
  readonly store: ManagedStore
  readonly pushed: string[]
  readonly ids: Map<string, string>
}

async function start({ create, hasten }: Modelled, seen: { pushed: number; refused: number; released: number }) {
  let refuses = false
  let clock = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + clock)

  /** The push refuses some of the due changes, and the rest succeeds. */
  const pushTo = (pushed: string[]) => {
    const push = (changes: readonly Change[]) => {
      const isRefused = ({ domain, kind }: Change) => domain.startsWith('b.example.') && kind === 'registered'
      if (refuses && changes.some(isRefused)) throw new Error('refused')
      pushed.push(...changes.map(({ kind, domain, teamId }) => `${kind} ${domain} for ${teamId}`))
    }
    return Object.assign(push, { batchSize: 2 })
  }
  function onError(): void {
    seen.refused += 1
  }
  const [byMemory, byOther]: [string[], string[]] = [[], []]
  const memory: Side = {
    store: createMemoryStore({ synchronize: pushTo(byMemory), onError }),
    pushed: byMemory,
    ids: new Map(),
  }
  const other: Side = {
    store: await create({ findTeam: () => null, synchronize: pushTo(byOther), onError }),
    pushed: byOther,
    ids: new Map(),
  }
  const both = async <T>(ask: (side: Side) => T) => {
    const [expected, actual] = [await ask(memory), await ask(other)]
    expect(actual).toEqual(expected)
    return actual
  }

  async function compare(): Promise<void> {
    const domains = names.flatMap(({ domain }) => [domain, ...ancestorsOf(domain).map(wildcardOver)])
    const bases = names.map(({ domain }) => domain).filter(domain => !domain.startsWith('*.'))
    for (const teamId of teamIds) {
      const held = await both(async ({ store, ids }) => {
        const found = await store.find({ teamId, domains: [...new Set(domains)], bases })
        for (const { domain, domainId } of found.registrations) expect(domainId).toBe(ids.get(domain))
        return withoutIds(found.registrations)
      })
      const isUncovered = (_: unknown, index: number) => !held.some(({ domain }) => domain === `*.${bases[index]}`)
      await both(async ({ store }) =>
        (await store.find({ teamId, domains: [], bases })).below.filter(isUncovered).map(toComparable),
      )
    }
    for (const ofTeam of [{}, ...teamIds.map(teamId => ({ teamId }))]) {
      await both(({ store }) => store.count(ofTeam))
      for (const options of lists) await both(side => listAll(side, { ...options, ...ofTeam }))
    }
    await both(async ({ store }) => {
      const { count, refused } = await store.pendingStats()
      const waiting = await store.listPending()
      expect(waiting).toHaveLength(count)
      const tell = ({ domain, kind, refusals, lastFailure }: (typeof waiting)[number]) =>
        `${domain} ${kind} ${refusals} ${lastFailure}`
      return [refused, ...waiting.map(tell).sort()]
    })
    expect(other.pushed.toSorted()).toEqual(memory.pushed.toSorted())
  }

  async function take(taken: Step): Promise<void> {
    if (taken.type === 'register') {
      await both(async ({ store, ids }) => {
        const { saved } = await store.register(
          createRegistrationRequest({ teamId: taken.team, submitted: taken.names, timeLimit: 10_000 }),
        )
        for (const { domain, domainId } of saved) ids.set(domain, domainId)
        return saved.map(({ domain, synchronized }) => `${domain} ${synchronized}`)
      })
    } else if (taken.type === 'release') {
      const released = await both(async ({ store, ids }) => {
        const keys = taken.names.map(({ domain }) => (taken.byId ? (ids.get(domain) ?? domain) : domain))
        const released = withoutIds(await store.release(taken.team, keys))
        for (const { domain } of released) ids.delete(domain)
        return released
      })
      seen.released += released.length
    } else if (taken.type === 'synchronize') {
      refuses = false
      await both(async ({ store }) => {
        const domains = taken.names.map(({ domain }) => domain)
        const { registrations } = await store.find({ teamId: '1', domains, bases: [] })
        const waiting = registrations.filter(({ synchronized }) => !synchronized)
        if (waiting.length > 0) await store.synchronize?.(waiting)
      })
    } else {
      refuses = taken.refuses
      // To let time pass, one store gets a clock that runs ahead, and the pending changes of the other one become due
      // earlier.
      clock += taken.clock
      await hasten(taken.clock)
      seen.pushed += await both(({ store }) => sweepAll(store, taken.limit))
    }
  }

  return { take, compare }
}

const lists: readonly ListOptions[] = [
  { order: 'oldest' },
  { order: 'newest' },
  { domain: 'a.example.com' },
  { below: 'example.com' },
  { below: 'a.example.com' },
]

/**
 * Repeats sweeps until nothing is due. After a single sweep, the two stores might differ: a sweep is limited, and
 * pushes changes that are due at the same time in any order.
 */
async function sweepAll(store: ManagedStore, limit: number): Promise<number> {
  for (let pushed = 0; ; ) {
    const { synchronized, failed } = await store.synchronizePending({ limit })
    if (synchronized + failed === 0) return pushed
    pushed += synchronized
  }
}

async function listAll({ store }: Side, options: ListOptions): Promise<string[]> {
  const listed: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.list({ ...options, after, limit: 2 })
    listed.push(...page.map(({ domain, teamId, synchronized }) => `${domain} ${teamId} ${synchronized}`))
    if (page.length < 2) return listed
    after = options.below === undefined ? page.at(-1)?.domainId : page.at(-1)?.domain
  }
}

/** Removes IDs and times, which differ between two stores. */
const withoutIds = <Item extends { readonly domain: string }>(registrations: readonly Item[]) =>
  registrations
    .map(registration => ({ ...registration, domainId: '', createdAt: '' }))
    .sort((one, other) => (one.domain < other.domain ? -1 : 1))

/**
 * Removes findings that a store may omit: other teams' names if there are names of the calling team, and
 * `behindSuffixes` if there are names of any team.
 */
function toComparable({ ownDomains, ownCount, heldByOthers, behindSuffixes }: LookUpResult['below'][number]) {
  const isHeld = ownCount > 0 || heldByOthers
  return {
    ownCount,
    named: new Set(ownDomains).size,
    heldByOthers: ownCount === 0 && heldByOthers,
    behindSuffixes: isHeld ? [] : behindSuffixes.map(({ domain, teamId }) => `${domain} ${teamId}`).sort(),
  }
}
