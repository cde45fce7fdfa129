import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryWaitingStore, type WaitingStore } from '../../src/index.ts'
import { createPostgresWaitingStore, migrate } from '../../src/postgres/index.ts'
import { createSqliteWaitingStore } from '../../src/sqlite/index.ts'
import { waitingStoreSuite } from '../../src/testing/index.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { openDatabase as openFile } from '../sqlite/open-database.ts'

let server: TestServer
let pool: Pool

beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool()
  await migrate({ database: pool })
})
afterAll(() => server.stop())

describe.each<[string, () => Promise<WaitingStore>]>([
  ['in memory', async () => createMemoryWaitingStore()],
  ['SQLite', async () => createSqliteWaitingStore({ database: openFile() })],
  [
    'PostgreSQL',
    async () => {
      await pool.query('DELETE FROM domain_registration.waiting')
      return createPostgresWaitingStore({ database: pool })
    },
  ],
])('the store of names that wait, %s', (_, createStore) => {
  for (const { name, run } of waitingStoreSuite({ createStore })) test(name, run)
})

/** For each case, a store that breaks only its promise. */
const broken: Readonly<Record<string, (store: WaitingStore) => Partial<WaitingStore>>> = {
  'keeps-whole-names': ({ list }) => ({ list: async teamId => (await list(teamId)).toReversed() }),
  'kept-again': ({ keep, remove }) => ({
    async keep(teamId, names, options) {
      await remove(
        teamId,
        names.map(({ domain }) => domain),
      )
      await new Promise(resolve => setTimeout(resolve, 2))
      return keep(teamId, names, options)
    },
  }),
  'at-most-so-many': ({ keep, list }) => ({
    async keep(teamId, names, options) {
      const room = options.most - (await list(teamId)).length
      await new Promise(resolve => setTimeout(resolve, 2))
      return keep(teamId, names.slice(0, Math.max(0, room)), { ...options, most: 1000 })
    },
  }),
  'removes-names': ({ remove }) => ({
    async remove(teamId, domains) {
      await remove(teamId, domains)
      return domains
    },
  }),
  'takes-what-is-due': ({ take }) => ({ take: options => take({ ...options, lease: -1 }) }),
  'takes-by-lot': ({ take, settle }) => ({
    async take(options) {
      for (;;) {
        const taken = await take(options)
        const [first] = taken
        if (first?.teamId !== '2') return taken
        await settle('2', [{ ...first, wait: 0 }])
      }
    },
  }),
  'takes-once': ({ take, settle }) => ({
    async take(options) {
      const taken = await take({ ...options, lease: 0 })
      await new Promise(resolve => setTimeout(resolve, 2))
      for (const name of taken) await settle(name.teamId, [{ ...name, wait: options.lease }])
      return taken
    },
  }),
  'says-what-is-last': ({ take }) => ({
    take: async options => (await take(options)).map(name => ({ ...name, isLast: false })),
  }),
  'settles-what-was-taken': ({ settle, list }) => ({
    async settle(teamId, tried, hasten) {
      const tries = new Map((await list(teamId)).map(name => [name.domain, name.tries]))
      const own = tried.map(each => ({ ...each, tries: tries.get(each.domain) ?? -1 }))
      return settle(teamId, own, hasten)
    },
  }),
  'settles-for-no-earlier-call': ({ settle, list }) => ({
    async settle(teamId, tried, hasten) {
      const until = new Map((await list(teamId)).map(name => [name.domain, name.until]))
      const own = tried.map(each => ({ ...each, until: until.get(each.domain) ?? each.until }))
      return settle(teamId, own, hasten)
    },
  }),
  'hastens-a-zone': ({ settle }) => ({
    settle: (teamId, tried, hasten) => settle(teamId, tried, hasten && { ...hasten, lease: 0 }),
  }),
  'says-what-is-overdue': ({ stats }) => ({ stats: async () => ({ ...(await stats()), overdue: 0 }) }),
}

describe('a store that breaks one promise', () => {
  const cases = waitingStoreSuite({ createStore: createMemoryWaitingStore })
  test('there is one for each case', () => expect(Object.keys(broken)).toEqual(cases.map(({ id }) => id)))

  test.each(Object.entries(broken))('fails the case %s', async (id, breaking) => {
    const suite = waitingStoreSuite({
      createStore() {
        const store = createMemoryWaitingStore()
        return { ...store, ...breaking(store) }
      },
    })
    const failing = suite.filter(each => each.id === id)
    expect(failing).toHaveLength(1)
    await expect(failing[0]?.run()).rejects.toThrow(id)
  })
})
