import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import {
  type CheckNames,
  createMemoryStore,
  createMemoryWaitingStore,
  deleteDomains,
  type ListWaitingResponse,
  listWaiting,
  previewDomains,
  registerDomains,
  releaseAll,
  retryWaiting,
  type SettledName,
  startRetrying,
  type Team,
  type WaitingDomain,
  type WaitingStore,
} from '../../src/index.ts'
import { createPostgresWaitingStore } from '../../src/postgres/index.ts'
import { createSqliteWaitingStore } from '../../src/sqlite/index.ts'
import { openDatabaseWithTables, type TestServer } from '../postgres/server.ts'
import { createRandom } from '../random.ts'
import { openDatabase as openFile } from '../sqlite/open-database.ts'
import { createVirtualTime } from '../virtual-time.ts'

const MINUTE = 60_000
const DAY = 1440 * MINUTE

interface Backend {
  readonly waiting: WaitingStore
  /** Lets time pass for the store. */
  pass(milliseconds: number): Promise<void>
}

let server: TestServer
let pool: Pool

beforeAll(async () => {
  server = await openDatabaseWithTables()
  pool = server.createPool()
})
afterAll(async () => {
  await server.stop()
})

const TIMES = ['since', 'until', 'last_tried', 'due']

const backends: Record<string, () => Promise<Backend>> = {
  async memory() {
    let passed = 0
    /** Time passes whenever the store reads the clock. */
    function now(): number {
      passed += 1
      return Date.now() + passed
    }
    return {
      waiting: createMemoryWaitingStore({ now }),
      async pass(milliseconds) {
        passed += milliseconds
      },
    }
  },
  async SQLite() {
    const database = openFile()
    return {
      waiting: createSqliteWaitingStore({ database }),
      async pass(milliseconds) {
        database.exec(
          `UPDATE domain_registration_waiting SET ${TIMES.map(time => `${time} = ${time} - ${milliseconds}`)}`,
        )
      },
    }
  },
  async PostgreSQL() {
    await pool.query('DELETE FROM domain_registration.waiting')
    return {
      waiting: createPostgresWaitingStore({ database: pool }),
      async pass(milliseconds) {
        const set = TIMES.map(time => `${time} = ${time} - interval '${milliseconds} milliseconds'`)
        await pool.query(`UPDATE domain_registration.waiting SET ${set}`)
      },
    }
  },
}

const caller = (teamId: string) =>
  ({ type: 'team', teamId, scopes: ['domains:create', 'domains:delete', 'domains:read'] }) as const

/** A world with a DNS, in which a name needs a record of its zone. */
function createWorld(backend: Backend, teams: Team[] = [{ id: '1', organizationId: '10', state: 'active' }]) {
  const proven = new Set<string>()
  const asked: string[] = []
  let onAsked = async () => {}
  const store = createMemoryStore({ teams })
  const checkNames: CheckNames = async (names, { team }) => {
    asked.push(...names.map(({ domain }) => domain))
    await onAsked()
    return names.map(({ registrableDomain: zone, domain }) => {
      if (proven.has(`${team.id} ${zone}`) || proven.has(`${team.id} ${domain}`)) return null
      const record = { type: 'TXT', name: `_x.${zone}`, host: '_x', zone, value: `v${team.id}` }
      return { code: 'invalid_domain', reason: 'not_verified', message: `Add _x.${zone}.`, record, waits: true }
    })
  }
  const told: SettledName[] = []
  const options = { store, waiting: backend.waiting, checkNames }
  const { waiting } = backend
  return {
    store,
    waiting,
    proven,
    asked,
    told,
    options,
    set onAsked(work: () => Promise<void>) {
      onAsked = work
    },
    create: async (teamId: string, ...domains: string[]) =>
      (await registerDomains(caller(teamId), { domains }, store, { checkNames, waiting })).data.results,
    retry: (more: object = {}) =>
      retryWaiting({
        ...options,
        onSettled: (names: readonly SettledName[]) => void told.push(...names),
        ...more,
      } as never),
    list: async (teamId: string) => (await waiting.list(teamId)).map(({ domain }) => domain),
    count: (teamId: string) => store.count({ teamId }),
  }
}

describe.each(Object.keys(backends))('%s', name => {
  let backend: Backend
  beforeEach(async () => {
    backend = await (backends[name] as () => Promise<Backend>)()
  })

  test('a name that waits is kept, tried by itself, registered, told and forgotten', async () => {
    const world = createWorld(backend)
    const [result] = await world.create('1', 'shop.example.com')
    expect(result).toMatchObject({ status: 'invalid', code: 'invalid_domain' })
    expect(result).toHaveProperty('message', expect.stringMatching(/^Add _x\.example\.com\. It is kept until \d{4}-/))
    expect(await world.retry()).toMatchObject({ tried: 0 })
    await backend.pass(MINUTE)
    expect(await world.retry()).toMatchObject({ tried: 1, registered: 0 })
    expect(await world.retry()).toMatchObject({ tried: 0 })
    world.proven.add('1 example.com')
    await backend.pass(3 * MINUTE)
    expect(await world.retry()).toEqual({ tried: 1, registered: 1, refused: 0, expired: 0 })
    expect(world.told).toMatchObject([{ status: 'registered', teamId: '1', domain: 'shop.example.com' }])
    expect(await world.list('1')).toEqual([])
    expect(await world.count('1')).toBe(1)
  })

  test('a preview keeps nothing, and says that the name would wait', async () => {
    const world = createWorld(backend)
    const { checkNames, waiting } = world.options
    const { data } = await previewDomains(caller('1'), { domains: ['a.com'] }, world.store, { checkNames, waiting })
    expect(data.results[0]).toMatchObject({ waits: true, message: 'Add _x.a.com.', record: { zone: 'a.com' } })
    expect(await world.list('1')).toEqual([])
  })

  test('the back-off: 90 to 130 looks in 14 days, then it expires and is told', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    let tries = 0
    let passed = 0
    while (world.told.length === 0 && passed < 15 * DAY) {
      const [name] = await world.waiting.list('1')
      const half = Math.ceil((Number(name?.nextTry) - Number(name?.lastTried)) / 2) + 500
      await backend.pass(half - 1_000)
      expect(await world.retry()).toMatchObject({ tried: 0 })
      await backend.pass(half + 1_000)
      tries += (await world.retry()).tried
      passed += 2 * half
    }
    expect(tries).toBeGreaterThan(80)
    expect(tries).toBeLessThan(130)
    expect(world.told).toMatchObject([{ status: 'expired', code: 'invalid_domain', message: 'Add _x.a.com.' }])
    expect(passed).toBeGreaterThanOrEqual(14 * DAY)
    expect(await world.list('1')).toEqual([])
  })

  test('after a pause of the loop beyond its time, a name is tried once more, not expired unseen', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com', 'b.com')
    world.proven.add('1 a.com')
    await backend.pass(20 * DAY)
    const errors: unknown[] = []
    const down = () => Promise.reject(new Error('The resolver is down'))
    const failing = { checkNames: down, onError: (e: unknown) => errors.push(e) }
    expect(await world.retry(failing)).toEqual({ tried: 2, registered: 0, refused: 0, expired: 0 })
    // Two turns may share the names.
    expect(new Set(errors.map(String))).toEqual(new Set(['Error: The resolver is down']))
    await backend.pass(5 * MINUTE)
    expect(await world.retry()).toEqual({ tried: 2, registered: 1, refused: 0, expired: 1 })
  })

  test('sending it again is idempotent, begins the tries again, and keeps its first time', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    const [before] = await world.waiting.list('1')
    await backend.pass(10 * DAY)
    await world.retry()
    await world.create('1', 'a.com', 'A.com')
    const [after, ...others] = await world.waiting.list('1')
    expect(others).toEqual([])
    expect(after?.tries).toBe(0)
    expect(Number(after?.until) - Number(after?.since)).toBeGreaterThan(20 * DAY)
    expect(before?.domain).toBe('a.com')
  })

  test('a name that the customer registers by hand is forgotten at once', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    world.proven.add('1 a.com')
    await world.create('1', 'a.com')
    expect(await world.list('1')).toEqual([])
  })

  test('whoever is registered first has the name; the other is told', async () => {
    const world = createWorld(backend, [
      { id: '1', organizationId: '10', state: 'active' },
      { id: '2', organizationId: '10', state: 'active' },
    ])
    await world.create('1', 'a.com')
    world.proven.add('2 a.com')
    expect(await world.create('2', 'a.com')).toMatchObject([{ status: 'created' }])
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    await world.retry()
    expect(world.told).toMatchObject([{ status: 'refused', teamId: '1', code: 'domain_already_licensed' }])
  })

  test('names of one record share its fate: of each hundred, ten are tried, and all when it is there', async () => {
    const world = createWorld(backend)
    const domains = Array.from({ length: 1000 }, (_, index) => `n${index}.example.com`)
    for (let start = 0; start < 1000; start += 100) await world.create('1', ...domains.slice(start, start + 100))
    world.asked.length = 0
    await backend.pass(MINUTE)
    await world.retry()
    // Turns at once may share a hundred: PostgreSQL skips the rows that another one takes just then.
    expect(world.asked.length).toBeGreaterThanOrEqual(100)
    expect(world.asked.length).toBeLessThanOrEqual(200)
    expect(await world.list('1')).toHaveLength(1000)
    world.proven.add('1 example.com')
    await backend.pass(3 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1000 })
    expect(await world.count('1')).toBe(1000)
    expect(world.told).toHaveLength(1000)
  })

  test('names of one record are due together again, so they share their next turn too', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.example.com', 'b.example.com', 'c.example.com')
    await backend.pass(MINUTE)
    expect(await world.retry()).toMatchObject({ tried: 3 })
    const times = (await world.waiting.list('1')).map(({ nextTry }) => nextTry.getTime())
    expect(new Set(times).size).toBe(1)
  })

  test('once its signal is aborted, a sweep takes no name', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    await backend.pass(MINUTE)
    expect(await world.retry({ signal: AbortSignal.abort() })).toMatchObject({ tried: 0 })
    expect(await world.retry()).toMatchObject({ tried: 1 })
  })

  test('each of many names of one record is tried some time, also one that has a record of its own', async () => {
    const world = createWorld(backend)
    const domains = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`)
    await world.create('1', ...domains)
    world.asked.length = 0
    await backend.pass(MINUTE)
    await world.retry()
    world.proven.add(`1 ${domains.find(domain => !world.asked.includes(domain))}`)
    // Ten of the twenty are tried in each turn.
    for (let turn = 0; turn < 60 && world.told.length === 0; turn += 1) {
      await backend.pass(300 * MINUTE)
      await world.retry()
    }
    expect(world.told).toMatchObject([{ status: 'registered' }])
  })

  test('a team keeps at most 1,000 names, and the others promise nothing', async () => {
    const world = createWorld(backend)
    const domains = Array.from({ length: 1020 }, (_, index) => `n${index}.example.com`)
    const results = []
    for (let start = 0; start < 1020; start += 85)
      results.push(...(await world.create('1', ...domains.slice(start, start + 85))))
    expect(results.filter(result => 'message' in result && result.message.includes('is kept until'))).toHaveLength(1000)
    expect(await world.list('1')).toHaveLength(1000)
    const again = await world.create('1', 'n3.example.com', 'new.example.com')
    expect(again.map(result => 'message' in result && result.message.includes('is kept'))).toEqual([true, false])
  })

  test('a team without room: what fits is registered, the rest waits on and says why', async () => {
    const team = { id: '1', organizationId: '10', state: 'active', maxDomains: 3 } as const
    const world = createWorld(backend, [team])
    await world.create('1', 'a.com', 'b.a.com', 'c.a.com', 'd.a.com', 'e.a.com')
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 3 })
    const left = await world.waiting.list('1')
    expect(left.map(({ refusal }) => refusal.reason)).toEqual(['domain_limit_reached', 'domain_limit_reached'])
    const listed = (await world.store.list({ teamId: '1', limit: 9 })).map(({ domain }) => domain)
    await deleteDomains(caller('1'), { domains: listed.slice(0, 1) }, world.store)
    await backend.pass(10 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1 })
  })

  test('a team whose last room somebody takes during the turn waits on and says why', async () => {
    const world = createWorld(backend, [{ id: '1', organizationId: '10', state: 'active', maxDomains: 1 }])
    await world.create('1', 'a.com')
    world.proven.add('1 a.com').add('1 b.com')
    await world.create('1', 'b.com')
    await backend.pass(MINUTE)
    await world.retry({ store: { ...world.store, count: async () => 0 } })
    expect(await world.waiting.list('1')).toMatchObject([{ refusal: { reason: 'domain_limit_reached' } }])
    await deleteDomains(caller('1'), { domains: ['b.com'] }, world.store)
    await backend.pass(3 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1 })
  })

  test('two loops at once, for 100 teams with 10 names each: each name is registered once and told once', async () => {
    const teams = Array.from(
      { length: 100 },
      (_, index): Team => ({ id: `${index}`, organizationId: '10', state: 'active' }),
    )
    const world = createWorld(backend, teams)
    for (const { id } of teams) {
      await world.create(id, ...Array.from({ length: 10 }, (_, index) => `n${index}.team${id}.com`))
      world.proven.add(`${id} team${id}.com`)
    }
    await backend.pass(MINUTE)
    world.asked.length = 0
    const results = await Promise.all(Array.from({ length: 8 }, () => world.retry()))
    await world.retry()
    expect(results.reduce((sum, { registered }) => sum + registered, 0)).toBeLessThanOrEqual(1000)
    expect(await world.store.count()).toBe(1000)
    expect(new Set(world.told.map(({ domain }) => domain)).size).toBe(1000)
    expect(world.told).toHaveLength(1000)
    expect(world.asked).toHaveLength(1000)
  })

  test('a large team does not delay others: 99 teams with one name each have their turns among its ten', async () => {
    const teams = Array.from(
      { length: 100 },
      (_, index): Team => ({ id: `${index}`, organizationId: '10', state: 'active' }),
    )
    const world = createWorld(backend, teams)
    for (let start = 0; start < 1000; start += 100)
      await world.create('0', ...Array.from({ length: 100 }, (_, index) => `big${start + index}.com`))
    for (const { id } of teams.slice(1)) await world.create(id, `small${id}.com`)
    await backend.pass(MINUTE)
    world.asked.length = 0
    await world.retry()
    expect(world.asked).toHaveLength(1099)
    let big = 0
    const before: number[] = []
    for (const domain of world.asked)
      if (domain.startsWith('big')) big += 1
      else before.push(big)
    expect(before).toHaveLength(99)
    // By lot, some 100 of the large team's 1,000 names are tried before one of the others, on average.
    expect(before.reduce((sum, count) => sum + count, 0) / 99).toBeLessThan(500)
  })

  test('killed between registering and forgetting: the next loop tells it, after the lease', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    const settle = world.waiting.settle.bind(world.waiting)
    let calls = 0
    const dying = {
      ...world.waiting,
      settle: (...question: Parameters<typeof settle>) => {
        calls += 1
        if (calls === 2) throw new Error('killed')
        return settle(...question)
      },
    }
    await expect(world.retry({ waiting: dying, onSettled: undefined })).rejects.toThrow('killed')
    expect(await world.count('1')).toBe(1)
    expect(await world.list('1')).toEqual(['a.com'])
    expect(await world.retry()).toMatchObject({ tried: 0 })
    await backend.pass(3 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1 })
    expect(world.told).toMatchObject([{ status: 'registered', domain: 'a.com' }])
    expect(await world.list('1')).toEqual([])
  })

  test('a name that is deleted while the DNS is asked is not registered', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com', 'b.com')
    world.proven.add('1 a.com').add('1 b.com')
    await backend.pass(MINUTE)
    world.onAsked = async () => {
      world.onAsked = async () => {}
      const { data } = await deleteDomains(caller('1'), { domains: ['a.com', 'x.com'] }, world.store, {
        waiting: world.waiting,
      })
      expect(data.results).toEqual([
        { status: 'missing', input: 'a.com', waited: true },
        { status: 'missing', input: 'x.com' },
      ])
    }
    expect(await world.retry()).toMatchObject({ registered: 1 })
    expect(world.told).toMatchObject([{ domain: 'b.com' }])
    expect(await world.count('1')).toBe(1)
  })

  test('a name that is deleted no longer waits when its registration is released', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    const { release } = world.store
    const waited: (readonly string[])[] = []
    const store = {
      ...world.store,
      async release(...question: Parameters<typeof release>) {
        // Now, a loop would register the name if it still waited.
        waited.push(await world.list('1'))
        return release(...question)
      },
    }
    await deleteDomains(caller('1'), { domains: ['a.com'] }, store, { waiting: world.waiting })
    expect(waited).toEqual([[]])
  })

  test('a long turn does not expire a name that was sent again, and that another loop has taken since', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    await backend.pass(15 * DAY)
    world.onAsked = async () => {
      world.onAsked = async () => {}
      const [result] = await world.create('1', 'a.com')
      expect(result).toHaveProperty('message', expect.stringContaining('It is kept until'))
      await backend.pass(MINUTE)
      expect(await world.waiting.take({ limit: 100, lease: 3 * MINUTE })).toMatchObject([{ tries: 1, isLast: false }])
    }
    // The other turns of this sweep, which may begin late, take nothing.
    let takes = 0
    const take: WaitingStore['take'] = request => (++takes === 1 ? world.waiting.take(request) : [])
    const oneTurn = { waiting: { ...world.waiting, take } }
    expect(await world.retry(oneTurn)).toMatchObject({ tried: 1, expired: 0 })
    expect(world.told).toEqual([])
    expect(await world.list('1')).toEqual(['a.com'])
  })

  test('a full team registers the name that has waited longest', async () => {
    const world = createWorld(backend, [{ id: '1', organizationId: '10', state: 'active', maxDomains: 1 }])
    await world.create('1', 'n4.com')
    await backend.pass(MINUTE)
    const others = [0, 1, 2, 3, 5, 6, 7, 8, 9].map(index => `n${index}.com`)
    await world.create('1', ...others)
    for (const domain of ['n4.com', ...others]) world.proven.add(`1 ${domain}`)
    await backend.pass(MINUTE)
    await world.retry()
    expect(world.told).toMatchObject([{ status: 'registered', domain: 'n4.com' }])
  })

  test('a name of a suspended team expires too', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    world.options.store.findTeam = async () => ({ id: '1', organizationId: '10', state: 'suspended' })
    await backend.pass(13 * DAY)
    await world.retry()
    expect(world.told).toEqual([])
    await backend.pass(2 * DAY)
    await world.retry()
    expect(world.told).toMatchObject([{ status: 'expired', domain: 'a.com', message: 'Add _x.a.com.' }])
    expect(await world.list('1')).toEqual([])
  })

  test('while nobody can be told, a sweep ends: what it has found makes nothing due', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.example.com', 'b.example.com')
    world.proven.add('1 example.com')
    await backend.pass(MINUTE)
    const onSettled = () => Promise.reject(new Error('mail is down'))
    // The lease is shorter than the minute after which the team is told again.
    expect(await world.retry({ onSettled, onError() {}, timeLimit: 5000 })).toMatchObject({ tried: 2 })
  })

  test('onSettled that fails is called again', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    const errors: unknown[] = []
    await world.retry({
      onSettled: () => Promise.reject(new Error('mail is down')),
      onError: (e: unknown) => errors.push(e),
    })
    expect(errors).toHaveLength(1)
    expect(await world.list('1')).toEqual(['a.com'])
    await backend.pass(3 * MINUTE)
    await world.retry()
    expect(world.told).toMatchObject([{ status: 'registered', domain: 'a.com' }])
  })

  test('a name that is registered, but refused by the monitor, waits no longer', async () => {
    const world = createWorld(backend)
    const synchronize = () => Promise.reject(new Error('The monitor refuses it'))
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }], synchronize })
    await world.create('1', 'a.com')
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    const failing = { store, onError() {}, onSettled: () => Promise.reject(new Error('mail is down')) }
    await world.retry(failing)
    expect((await store.list()).map(({ domain, synchronized }) => [domain, synchronized])).toEqual([['a.com', false]])
    await backend.pass(3 * MINUTE)
    expect(await world.retry({ store, onError() {} })).toMatchObject({ registered: 1 })
    expect(world.told).toMatchObject([{ status: 'registered', domain: 'a.com' }])
  })

  test('a name that alone cannot be saved waits on; the others are registered', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com', 'b.com')
    world.proven.add('1 a.com').add('1 b.com')
    await backend.pass(MINUTE)
    const { register } = world.store
    world.store.register = request => {
      if (request.domains.includes('b.com')) throw new Error('A trigger refuses b.com')
      return register(request)
    }
    const errors: unknown[] = []
    expect(await world.retry({ onError: (e: unknown) => errors.push(e) })).toMatchObject({ registered: 1, refused: 0 })
    expect(String(errors)).toContain('A trigger refuses b.com')
    expect(await world.list('1')).toEqual(['b.com'])
    world.store.register = register
    await backend.pass(3 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1 })
  })

  test('a suspended team is not asked about, and comes back', async () => {
    const teams: Team[] = [{ id: '1', organizationId: '10', state: 'active' }]
    const world = createWorld(backend, teams)
    await world.create('1', 'a.com')
    world.asked.length = 0
    world.proven.add('1 a.com')
    await backend.pass(MINUTE)
    world.options.store.findTeam = async () => ({ id: '1', organizationId: '10', state: 'suspended' })
    await world.retry()
    expect(world.asked).toEqual([])
    await backend.pass(3 * 60 * MINUTE)
    expect(await world.retry()).toMatchObject({ tried: 0 })
    world.options.store.findTeam = async () => teams[0] as Team
    await backend.pass(2 * 60 * MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 1 })
  })

  test('one record found hastens the other names of the zone', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.example.com')
    for (let tries = 0; tries < 8; tries += 1) {
      await backend.pass(300 * MINUTE)
      await world.retry()
    }
    await world.create('1', 'b.example.com')
    world.proven.add('1 example.com')
    await backend.pass(MINUTE)
    expect(await world.retry()).toMatchObject({ registered: 2 })
  })

  test('over HTTP: what waits is listed with its record, also for a suspended team', async () => {
    const teams: Team[] = [{ id: '1', organizationId: '10', state: 'active' }]
    const world = createWorld(backend, teams)
    await world.create('1', 'b.com', 'a.com')
    world.store.findTeam = async () => ({ id: '1', organizationId: '10', state: 'suspended' })
    const handle = domainsHandler({
      ...world.options,
      authenticate: () => ({ type: 'organization', organizationId: '10', scopes: ['domains:read'] }),
      operations: ['waiting'],
    })
    const get = (path: string) => handle(new Request(`https://localhost/v1/domains/waiting${path}`))
    expect((await get('')).status).toBe(400)
    const { data } = (await (await get('?team_id=1')).json()) as ListWaitingResponse
    expect(data.domains).toMatchObject([
      { domain: 'a.com', code: 'invalid_domain', reason: 'not_verified', record: { zone: 'a.com' } },
      { domain: 'b.com', message: 'Add _x.b.com.' },
    ])
    const { since, until, lastTried, nextTry } = data.domains[0] as WaitingDomain
    expect([lastTried, Date.parse(nextTry) - Date.parse(since)]).toEqual([since, MINUTE])
    expect(Date.parse(until) - Date.parse(since)).toBe(14 * DAY)
    expect((await listWaiting(caller('1'), {}, world.store, { waiting: world.waiting })).data).toEqual(data)
  })

  test('releaseAll forgets what waits', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    await releaseAll(world.store, '1', { waiting: world.waiting })
    expect(await world.list('1')).toEqual([])
  })

  test('if nothing retries for an hour, the next call that keeps a name reports it', async () => {
    const world = createWorld(backend)
    const errors: unknown[] = []
    const create = async (domain: string) => {
      const { checkNames, waiting } = world.options
      const options = { checkNames, waiting, onError: (e: unknown) => errors.push(e) }
      return (await registerDomains(caller('1'), { domains: [domain] }, world.store, options)).data.results
    }
    await create('a.com')
    await backend.pass(60 * MINUTE)
    await create('b.com')
    expect(errors).toEqual([])
    await backend.pass(2 * MINUTE)
    expect(await create('c.com')).toMatchObject([{ message: expect.stringContaining('It is kept until') }])
    expect(String(errors)).toContain('Nothing retries the names that wait: one has been due for 61 minutes')
    expect(await world.waiting.stats()).toMatchObject({ count: 3 })
    expect((await world.waiting.stats()).overdue / MINUTE).toBeCloseTo(61, 0)
  })

  test('a store of waiting names that is down: the others are registered, nothing is promised', async () => {
    const world = createWorld(backend)
    world.proven.add('1 a.com')
    const errors: unknown[] = []
    const down = {
      ...world.waiting,
      keep: () => Promise.reject(new Error('down')),
      remove: () => Promise.reject(new Error('down')),
    }
    const { checkNames } = world.options
    const options = { checkNames, waiting: down, onError: (e: unknown) => errors.push(e) }
    const { data } = await registerDomains(caller('1'), { domains: ['a.com', 'b.com'] }, world.store, options)
    expect(data.results).toMatchObject([{ status: 'created' }, { message: 'Add _x.b.com. Send it again later.' }])
    expect(errors).toHaveLength(1)
  })

  test('the loop registers by itself, and stops', async () => {
    const world = createWorld(backend)
    await world.create('1', 'a.com')
    world.proven.add('1 a.com')
    const loop = startRetrying({ ...world.options, interval: 20 })
    await backend.pass(MINUTE)
    for (let turn = 0; turn < 200 && (await world.count('1')) === 0; turn += 1)
      await new Promise(r => setTimeout(r, 20))
    await loop.stop()
    expect(await world.count('1')).toBe(1)
  })
})

test('onSettled that does not end is reported after the time limit, and its names are not forgotten', async () => {
  const time = createVirtualTime(createRandom(1))
  const [errors, names] = await time.run(async () => {
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const waiting = createMemoryWaitingStore({ now: () => performance.now() })
    const refusal = { code: 'invalid_domain', message: 'Not yet.', waits: true } as const
    await registerDomains(caller('1'), { domains: ['a.com'] }, store, { checkNames: () => [refusal], waiting })
    await time.sleep(MINUTE)
    const errors: unknown[] = []
    const onSettled = () => new Promise(() => {})
    const onError = (error: unknown) => errors.push(error)
    await retryWaiting({ store, waiting, checkNames: () => [null], onSettled, onError })
    return [errors, await waiting.list('1')] as const
  })
  expect(String(errors)).toBe('TimeLimitError: "onSettled" did not end within 30000 ms')
  expect(names).toMatchObject([{ domain: 'a.com' }])
})

test('a team with 1,000 names of silent zones holds up none of 99 other teams for more than 25 s', async () => {
  const time = createVirtualTime(createRandom(1))
  const late = await time.run(async () => {
    const teams = Array.from({ length: 100 }, (_, id): Team => ({ id: `${id}`, organizationId: '10', state: 'active' }))
    const store = createMemoryStore({ teams })
    const waiting = createMemoryWaitingStore({ now: () => performance.now() })
    let isPublished = false
    const refusal = { code: 'invalid_domain', reason: 'dns_unreachable', message: 'Silent.', waits: true } as const
    const checkNames: CheckNames = async (names, { team }) => {
      if (isPublished && team.id === '0') await time.sleep(10_000)
      return names.map(() => (isPublished && team.id !== '0' ? null : refusal))
    }
    for (const { id } of teams) {
      for (let call = 0; call < (id === '0' ? 10 : 1); call += 1) {
        const domains = Array.from({ length: id === '0' ? 100 : 1 }, (_, index) => `n${index}-${call}-${id}.com`)
        await registerDomains(caller(id), { domains }, store, { checkNames, waiting })
      }
    }
    isPublished = true
    const due = performance.now() + MINUTE
    const waits: number[] = []
    const onSettled = (names: readonly SettledName[]) => {
      for (const _ of names) waits.push(performance.now() - due)
    }
    async function loop(): Promise<void> {
      while (waits.length < 99) {
        await time.sleep(10_000)
        await retryWaiting({ store, waiting, checkNames, onSettled })
      }
    }
    await Promise.all([loop(), loop()])
    return waits
  })
  expect(late).toHaveLength(99)
  expect(Math.max(...late)).toBeLessThan(25_000)
})
