import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DomainStore, registerDomains } from '../../src/index.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { createStore, team1 } from '../fixtures.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { createFolder } from '../sqlite/create-folder.ts'

describe('under a limit of 100 names, exactly one of 20 simultaneous calls for 100 names each succeeds,', () => {
  const team = { id: '1', organizationId: '10', state: 'active', maxDomains: 100 } as const
  const findTeam = () => team
  const { open } = createFolder()
  let server: TestServer
  beforeAll(async () => {
    server = await openDatabase()
    await migrate({ database: server.createPool() })
  })
  afterAll(() => server.stop())

  test.each<[name: string, createStore: () => DomainStore]>([
    ['memory', () => createStore({ teams: [team] })],
    ['SQLite, over two connections', () => createSqliteStore({ database: open('limit.db'), findTeam })],
    ['PostgreSQL, over two pools', () => createPostgresStore({ database: server.createPool({ max: 5 }), findTeam })],
  ])('in %s', async (name, createStore) => {
    // The names have different registrable domains, so only the limit makes these calls wait for each other.
    const domainsOf = (call: number) => Array.from({ length: 100 }, (_, index) => `c${call}-${index}.com`)
    const first = createStore()
    const second = name === 'memory' ? first : createStore()
    const calls = Array.from({ length: 20 }, (_, call) =>
      registerDomains(team1, { domains: domainsOf(call) }, call % 2 === 0 ? first : second).catch(error => error.code),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter(answer => answer === 'domain_limit_reached')).toHaveLength(19)
    expect(await first.count?.({ teamId: '1' })).toBe(100)
  })
})
