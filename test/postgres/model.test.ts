import fc from 'fast-check'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { Name } from '../../src/registry/name.ts'
import type { Change, DomainStore, Found, Registration } from '../../src/registry/store.ts'
import { lookUp } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { bases, names, someNames, team, teamIds } from '../few-names.ts'
import { shrinkingAtMost } from '../shrinking.ts'
import { tableOptions, throughFirst } from './engine.ts'
import { openDatabase, type TestServer } from './server.ts'

/**
 * PostgreSQL against the memory store, which is held against a plain list by a test of its own: over random sequences
 * of calls, on so few names that they meet in the row of a registrable domain, come to it and leave it.
 */

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('register' as const), team, names: someNames }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('release' as const), team, names: someNames }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('synchronize' as const), names: someNames }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('sweep' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reclassify' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
  await migrate({ pool: throughFirst(pool), ...tableOptions })
})
afterAll(() => server.stop())

test(`does what the memory store does (seed ${seed})`, { timeout: 600_000 }, async () => {
  const seen = { inlined: 0, empty: 0, pushed: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      shrinkingAtMost(100, async steps => {
        for (const table of ['names', 'releases']) await pool.query(`DELETE FROM domain_registration.${table}`)
        const run = start()
        for (const each of steps) {
          await run.take(each)
          await run.compare()
          const { rows } = await pool.query(
            `SELECT count(*) FILTER (WHERE inlined_path IS NOT NULL)::integer AS inlined,
               count(*) FILTER (WHERE domain_id IS NULL)::integer AS empty FROM domain_registration.names`,
          )
          seen.inlined += rows[0].inlined
          seen.empty += rows[0].empty
        }
        seen.pushed += run.pushed
      }),
    ),
    { seed, numRuns: counts.sequences },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})

function start() {
  const pushes = { memory: [] as string[], postgres: [] as string[] }
  const pushTo = (pushed: string[]) => (changes: readonly Change[]) =>
    void pushed.push(...changes.map(({ kind, domain, teamId }) => `${kind} ${domain} for ${teamId}`))
  const memory = createMemoryStore({ synchronize: pushTo(pushes.memory) })
  const postgres = createPostgresStore({ pool, findTeam: () => null, synchronize: pushTo(pushes.postgres) })
  /** IDs, which the stores make for themselves, by domain. */
  const ids = new Map<string, string>()

  async function compare(): Promise<void> {
    for (const teamId of teamIds) {
      const [expected, actual] = [
        await lookUp(memory, teamId, names, bases),
        await lookUp(postgres, teamId, names, bases),
      ]
      expect(actual.registrations.map(withoutId)).toEqual(expected.registrations.map(withoutId))
      // Whether the wildcard over a base counts is all the same.
      const isTold = (_: unknown, index: number) => !ids.has(`*.${bases[index]?.domain}`)
      expect(actual.below.filter(isTold).map(toCounts)).toEqual(expected.below.filter(isTold).map(toCounts))
      for (const { domain, domainId } of actual.registrations) expect(domainId).toBe(ids.get(domain))
    }
    const { rows } = await pool.query('SELECT domain, domain_id FROM domain_registration.registrations')
    expect(new Map(rows.map(row => [row.domain, row.domain_id]))).toEqual(ids)
    // What is released in one transaction has no order.
    expect(pushes.postgres.toSorted()).toEqual(pushes.memory.toSorted())
    expect(await postgres.countPending()).toBe(memory.countPending())
  }

  async function take(taken: Step): Promise<void> {
    if (taken.type === 'register') {
      await register(memory, taken.team, taken.names)
      const { saved } = await register(postgres, taken.team, taken.names)
      for (const { domain, domainId } of saved) ids.set(domain, domainId)
    } else if (taken.type === 'release') {
      const domains = taken.names.map(({ domain }) => domain)
      const released = memory.release(taken.team, domains).map(withoutId)
      expect(sorted((await postgres.release(taken.team, domains)).map(withoutId))).toEqual(sorted(released))
      for (const { domain } of released) ids.delete(domain)
    } else if (taken.type === 'synchronize') {
      for (const store of [memory, postgres]) {
        const { registrations } = await lookUp(store, '1', taken.names)
        if (registrations.length > 0) await store.synchronize?.(registrations)
      }
    } else if (taken.type === 'sweep') {
      expect(await postgres.synchronizePending()).toEqual(await memory.synchronizePending())
    } else {
      expect(await postgres.reclassify()).toEqual({ examined: ids.size, moved: 0, left: [] })
    }
  }

  return {
    take,
    compare,
    get pushed() {
      return pushes.postgres.length
    },
  }
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

const withoutId = ({ domainId, ...rest }: Registration) => rest

/** Stores need not look for names of others where there are own. */
const toCounts = ({ ownDomains, ownCount, heldByOthers }: Found['below'][number]) => ({
  ownCount,
  named: new Set(ownDomains).size,
  heldByOthers: ownCount === 0 && heldByOthers,
})

const sorted = (registrations: readonly Omit<Registration, 'domainId'>[]) =>
  registrations.toSorted((one, other) => (one.domain < other.domain ? -1 : 1))
