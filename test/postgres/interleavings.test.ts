import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { classifyHostname } from '../../src/hostname/classify.ts'
import { createPostgresStore, migrate, type PostgresStore } from '../../src/postgres/index.ts'
import type { Name } from '../../src/registry/name.ts'
import type { Found, Registration } from '../../src/registry/store.ts'
import { createRequest, save, toName } from '../../src/testing/calls.ts'
import { holdStatements, untilDoneOrBlocked } from './held-pool.ts'
import { openDatabase, type TestServer } from './server.ts'

/**
 * One operation against rivals that run, each as a whole, between two of its statements: between any two. What was
 * answered must explain what is there in the end: each registration that was saved and not released, and no other.
 */

let server: TestServer
let pool: Pool
/** What the rivals work with. */
let rival: PostgresStore
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool()
  await migrate({ pool })
  rival = createPostgresStore({ pool, findTeam: () => null, synchronize: () => {} })
})
afterAll(() => server.stop())
beforeEach(async () => {
  ledger.clear()
  await pool.query('DELETE FROM domain_registration.names')
})

/** IDs of what has been saved and not been released, by what was answered. */
const ledger = new Map<string, Registration>()
const record = (saved: readonly Registration[]) => {
  for (const registration of saved) ledger.set(registration.domainId, registration)
  return saved
}
async function register(teamId: string, domains: readonly string[], store = rival) {
  const names = domains.map(classifyHostname).filter(hostname => hostname.valid)
  const isFree = ({ domain }: Name, { registrations }: Found) => !registrations.some(held => held.domain === domain)
  const request = createRequest(teamId, names, [], found => names.filter(name => isFree(name, found)))
  return record((await store.register(request)).saved)
}
async function release(store: PostgresStore, teamId: string, domains: readonly string[]) {
  const released = await store.release(teamId, domains)
  for (const { domainId } of released) {
    // Of two who release the same registration only one is told so.
    expect(ledger.has(domainId)).toBe(true)
    ledger.delete(domainId)
  }
  return released
}

interface Race {
  readonly name: string
  /** What is there before. */
  setUp(): Promise<unknown>
  /** What is held between its statements. */
  operation(store: PostgresStore): Promise<unknown>
  /** What others do, one after the other, each at a moment of its own. */
  readonly rivals: readonly (() => Promise<unknown>)[]
  /** What must hold beside the ledger. */
  check?(answer: never): void
}

/** As if `github.io` had not been a public suffix yet when it was registered. */
const saveStale = async (domain: string) => {
  record(await save(rival, '1', [{ domain, registrableDomain: 'github.io' }]))
}

let registrations: readonly Registration[] = []
const races: readonly Race[] = [
  {
    name: 'reclassify, while the first name of the new registrable domain is registered',
    setUp: () => saveStale('a.foo.github.io'),
    operation: store => store.reclassify(),
    rivals: [() => register('2', ['b.foo.github.io'])],
  },
  {
    name: 'reclassify, while the new registrable domain itself is registered',
    setUp: () => saveStale('a.foo.github.io'),
    operation: store => store.reclassify(),
    rivals: [() => register('2', ['foo.github.io'])],
  },
  {
    name: 'reclassify, while what moves is registered again by somebody else',
    setUp: () => saveStale('foo.github.io'),
    operation: store => store.reclassify(),
    rivals: [() => register('2', ['foo.github.io', 'www.foo.github.io']), () => release(rival, '2', ['foo.github.io'])],
  },
  {
    name: 'release of two names of a registrable domain, while they are registered',
    setUp: () => register('1', ['a.com']),
    operation: store => release(store, '1', ['a.com', 'b.com', 'x.b.com']),
    rivals: [() => register('1', ['b.com', 'x.b.com'])],
    // All that a call saved or nothing of it.
    check: (released: readonly Registration[]) => expect([1, 3]).toContain(released.length),
  },
  {
    name: 'release, while a name of it is registered, released and registered by another team',
    setUp: () => register('1', ['a.com']),
    operation: store => release(store, '1', ['a.com', 'x.b.com']),
    rivals: [
      () => register('1', ['b.com', 'x.b.com']),
      async () => {
        await release(rival, '1', ['x.b.com'])
        await register('2', ['x.b.com'])
      },
    ],
  },
  {
    name: 'release, while its names change hands',
    setUp: () => register('1', ['b.com', 'x.b.com']),
    operation: store => release(store, '1', ['b.com', 'x.b.com']),
    rivals: [
      async () => {
        await release(rival, '1', ['x.b.com'])
        await register('2', ['x.b.com'])
      },
      () => release(rival, '2', ['x.b.com']),
    ],
  },
  {
    name: 'register, while the first names of its registrable domains are registered and released',
    setUp: async () => {},
    operation: store => register('1', ['a.com', '*.b.com', 'x.c.com'], store),
    rivals: [
      () => register('2', ['x.a.com', 'y.b.com', 'c.com']),
      () => release(rival, '2', ['x.a.com', 'y.b.com', 'c.com']),
    ],
  },
  {
    name: 'what is below a wildcard, while it and names below it are registered',
    setUp: () => register('1', ['a.com']),
    async operation(store) {
      const [held, wildcard, base] = ['a.com', '*.b.com', 'b.com'].map(toName) as [Name, Name, Name]
      return (await store.register(createRequest('1', [held, wildcard], [base], () => []))).found
    },
    rivals: [async () => record(await save(rival, '1', ['x.b.com', '*.b.com']))],
    // Both of what a call saved or none of it.
    check: ({ registrations, below }: Found) => expect(below[0]?.ownCount).toBe(2 * (registrations.length - 1)),
  },
  {
    name: 'the mark of a push, while what was pushed changes hands',
    setUp: async () => {
      registrations = await register('1', ['b.com', 'x.b.com'])
    },
    operation: async store => store.synchronize?.(registrations),
    rivals: [
      async () => {
        await release(rival, '1', ['b.com', 'x.b.com'])
        await register('2', ['x.b.com', 'b.com'])
      },
    ],
  },
]

test.each(races)('$name', { timeout: 60_000 }, async ({ setUp, operation, rivals, check }) => {
  let moments = 0
  let schedules = 0
  /** Runs with each rival at its moment, in ascending order; more and more of them. */
  async function tryFrom(chosen: readonly number[]): Promise<void> {
    await run(chosen)
    if (chosen.length === rivals.length) return
    for (let moment = chosen.at(-1) ?? 0; moment < moments; moment += 1) await tryFrom([...chosen, moment])
  }

  async function run(chosen: readonly number[]): Promise<void> {
    ledger.clear()
    await pool.query('DELETE FROM domain_registration.names')
    await setUp()
    const running: Promise<unknown>[] = []
    const held = holdStatements(pool, async moment => {
      for (let next = running.length; chosen[next] === moment; next = running.length) {
        const work = Promise.all(running).then(() => rivals[next]?.())
        running.push(work)
        await untilDoneOrBlocked(pool, work)
      }
    })
    const store = createPostgresStore({ pool: held, findTeam: () => null, synchronize: () => {} })
    const answer = await operation(store)
    await Promise.all(running)
    moments = Math.max(moments, held.sent)
    schedules += 1

    const { rows } = await pool.query(
      'SELECT domain, domain_id, team_id, synchronized FROM domain_registration.registrations ORDER BY domain_id',
    )
    const expected = [...ledger.values()].sort((one, other) => (one.domainId < other.domainId ? -1 : 1))
    const what = `with rivals before the statements ${chosen}`
    expect(
      rows.map(row => [row.domain, row.domain_id, row.team_id]),
      what,
    ).toEqual(expected.map(({ domain, domainId, teamId }) => [domain, domainId, teamId]))
    // Nothing but the mark of a push says that something was pushed, and only the operation pushes.
    const pushed = new Set(registrations.map(({ domainId }) => domainId))
    for (const row of rows) expect(row.synchronized && !pushed.has(row.domain_id), what).toBe(false)
    check?.(answer as never)
  }

  await tryFrom([])
  expect(schedules).toBeGreaterThan(4)
})
