import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createMemoryStore, type ManagedStore, registerDomains } from '../../src/index.ts'
import type { Change, LookUpResult } from '../../src/registry/store.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { shrinkingAtMost } from '../shrinking.ts'
import { openDatabase } from './open-database.ts'

/**
 * SQLite against the memory store, over random sequences of calls on so few names that they meet, some of them behind a
 * public suffix below a registrable domain.
 */

const seed = Date.now() % 1_000_000
const RUNS = 40
const DAY = 86_400_000

const bases = ['example.com', 'a.example.com', 'example.co.uk', 'amazonaws.com', 'x.s3.amazonaws.com']
const names = [
  ...bases,
  'b.a.example.com',
  'b.example.com',
  'a.example.co.uk',
  'c.x.s3.amazonaws.com',
  'a.amazonaws.com',
]
const hostnames = [...names, ...names.map(name => `*.${name}`), '8.8.8.8']
const teamIds = ['1', '2']

const team = fc.constantFrom(...teamIds)
const some = fc.uniqueArray(fc.constantFrom(...hostnames), { minLength: 1, maxLength: 5 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('register' as const), team, domains: some }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('release' as const), team, domains: some, byId: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('sweep' as const), refused: some }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), time: fc.constantFrom(1, 90_000, DAY) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test(`does what the memory store does (seed ${seed})`, async () => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      shrinkingAtMost(100, async steps => {
        const database = openDatabase()
        const pushed = { memory: [] as string[], sqlite: [] as string[] }
        let refused: readonly string[] = []
        const pushTo = (log: string[]) => (changes: readonly Change[]) => {
          const wrong = changes.find(({ domain }) => refused.includes(domain))
          if (wrong) throw new Error(`Not ${wrong.domain}`)
          log.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
        }
        const options = {
          findTeam: (id: string) => ({ id, organizationId: '1', state: 'active' }) as const,
          onError() {},
        }
        const memory = createMemoryStore({
          teams: teamIds.map(options.findTeam),
          onError() {},
          synchronize: pushTo(pushed.memory),
        })
        const sqlite = createSqliteStore({ ...options, database, synchronize: pushTo(pushed.sqlite) })
        for (const taken of steps) {
          refused = taken.type === 'sweep' ? taken.refused : []
          if (taken.type === 'wait') vi.advanceTimersByTime(taken.time)
          expect(await take(sqlite, taken)).toEqual(await take(memory, taken))
          expect(await look(sqlite)).toEqual(await look(memory))
          expect(pushed.sqlite.toSorted()).toEqual(pushed.memory.toSorted())
        }
        expect(await listAll(sqlite)).toEqual(await listAll(memory))
        count += pushed.sqlite.length
        database.close()
      }),
    ),
    { seed, numRuns: RUNS },
  )
  expect(count).toBeGreaterThan(0)
})

async function take(store: ManagedStore, taken: Step): Promise<unknown> {
  if (taken.type === 'wait') return null
  if (taken.type === 'sweep') return store.synchronizePending()
  if (taken.type === 'register') {
    const keyContext = { type: 'team', teamId: taken.team, scopes: ['domains:create'] } as const
    const { data } = await registerDomains(keyContext, { domains: taken.domains }, store)
    // A message names any three of the names below a base.
    return data.results.map(result => (result.status === 'invalid' ? result.code : `${result.status} ${result.domain}`))
  }
  const held = await store.list()
  const ids = held.filter(({ domain }) => taken.domains.includes(domain)).map(({ domainId }) => domainId)
  const released = await store.release(taken.team, taken.byId ? ids : taken.domains)
  return released.map(withoutId).sort(byDomain)
}

/** What a store tells of what it holds and of what waits. */
async function look(store: ManagedStore): Promise<unknown> {
  const found = await Promise.all(teamIds.map(teamId => store.find({ teamId, domains: hostnames, bases })))
  return {
    found: found.map(toFound),
    counts: await Promise.all([undefined, ...teamIds].map(teamId => store.count({ teamId }))),
    stats: await store.pendingStats(),
    pending: (await store.listPending()).map(withoutId),
  }
}

/** What it lists, by every kind of page. */
async function listAll(store: ManagedStore): Promise<unknown> {
  const all = await store.list()
  const after = all[Math.floor(all.length / 2)]?.domainId
  const orders = [{ limit: 3 }, { after }, { domain: 'a.example.com', after }].flatMap(options => [
    { ...options, order: 'oldest' as const },
    { ...options, order: 'newest' as const },
  ])
  const places = bases.flatMap(below => [{ below }, { below, after: 'a.example.com', limit: 2 }])
  const pages = [undefined, ...teamIds].flatMap(teamId =>
    [...orders, ...places].map(async options => (await store.list({ ...options, teamId })).map(withoutId)),
  )
  return [...(await Promise.all(pages)), (await store.listPending({ after, limit: 2 })).map(withoutId)]
}

/**
 * What a store MUST tell: it need not look for names of others where the team has its own, and may count the wildcard
 * over a base or not.
 */
function toFound({ registrations, below }: LookUpResult): unknown {
  const isTold = (_: unknown, index: number) => !registrations.some(({ domain }) => domain === `*.${bases[index]}`)
  return {
    registrations: registrations.map(withoutId),
    below: below.filter(isTold).map(({ ownDomains, ownCount, heldByOthers, behindSuffixes }) => {
      if (ownCount > 0) return { ownCount, named: new Set(ownDomains).size }
      return heldByOthers || behindSuffixes.map(({ domain, teamId }) => `${teamId} ${domain}`).sort()
    }),
  }
}

const withoutId = <T extends { readonly domainId: string }>({ domainId, ...rest }: T) => rest
const byDomain = (one: { readonly domain: string }, other: { readonly domain: string }) =>
  one.domain < other.domain ? -1 : 1
