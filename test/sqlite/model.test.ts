import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import type { Name } from '../../src/registry/name.ts'
import type { Change, DomainStore, Found, Registration } from '../../src/registry/store.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { lookUp } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { bases, names, someNames, team, teamIds } from '../few-names.ts'
import { shrinkingAtMost } from '../shrinking.ts'
import { openDatabase } from './open-database.ts'

/**
 * SQLite against the memory store, which is held against a plain list by a test of its own: over random sequences of
 * calls, on so few names that they meet.
 */

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('register' as const), team, names: someNames }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('release' as const), team, names: someNames }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('synchronize' as const), names: someNames }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('sweep' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

test(`does what the memory store does (seed ${seed})`, async () => {
  let pushed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      shrinkingAtMost(100, async steps => {
        const database = openDatabase()
        const pushes = { memory: [] as Change[], sqlite: [] as Change[] }
        const memory = createMemoryStore({ synchronize: changes => pushes.memory.push(...changes) })
        const findTeam = () => null
        const sqlite = createSqliteStore({
          database,
          findTeam,
          synchronize: changes => pushes.sqlite.push(...changes),
        })
        for (const each of steps) {
          const [expected, actual] = [await take(memory, each), await take(sqlite, each)]
          expect(actual).toEqual(expected)
          expect(toKinds(pushes.sqlite)).toEqual(toKinds(pushes.memory))
          expect(await sqlite.countPending()).toBe(memory.countPending())
          expect((await sqlite.list()).map(withoutId)).toEqual(memory.list().map(withoutId))
          for (const teamId of teamIds) expect(await look(sqlite, teamId)).toEqual(await look(memory, teamId))
        }
        pushed += pushes.sqlite.length
        database.close()
      }),
    ),
    { seed, numRuns: counts.sequences },
  )
  expect(pushed).toBeGreaterThan(0)
})

type Store = ReturnType<typeof createSqliteStore> | ReturnType<typeof createMemoryStore>

async function take(store: Store, taken: Step): Promise<unknown> {
  if (taken.type === 'register') return (await register(store, taken.team, taken.names)).saved.map(withoutId)
  if (taken.type === 'sweep') return store.synchronizePending()
  if (taken.type === 'release') {
    const domains = taken.names.map(({ domain }) => domain)
    return (await store.release(taken.team, domains)).map(withoutId)
  }
  const { registrations } = await lookUp(store, '1', taken.names)
  if (registrations.length > 0) await store.synchronize?.(registrations)
  return registrations.length
}

const register = async (store: DomainStore, teamId: string, submitted: readonly Name[]) =>
  store.register({
    teamId,
    registrableDomains: [...new Set(submitted.map(({ registrableDomain }) => registrableDomain))].sort(),
    names: submitted,
    wildcardBases: [],
    decide: ({ registrations }: Found) =>
      submitted.filter(name => !registrations.some(({ domain }) => domain === name.domain)),
  })

/**
 * What is held, and what is below each base. Stores need not look for names of others where there are own, and may
 * count the wildcard over a base or not.
 */
async function look(store: DomainStore, teamId: string): Promise<unknown> {
  const { registrations, below } = await lookUp(store, teamId, names, bases)
  const held = new Set(registrations.map(({ domain }) => domain))
  const isTold = (_: unknown, index: number) => !held.has(`*.${bases[index]?.domain}`)
  return {
    registrations: registrations.map(withoutId),
    below: below.filter(isTold).map(({ ownDomains, ownCount, heldByOthers }) => ({
      ownCount,
      named: new Set(ownDomains).size,
      heldByOthers: ownCount === 0 && heldByOthers,
    })),
  }
}

const withoutId = ({ domainId, ...rest }: Registration) => rest

/** In any order: a sweep of releases that are due in the same millisecond has none. */
const toKinds = (changes: readonly Change[]) => changes.map(({ kind, domain }) => `${kind} ${domain}`).sort()
