import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/postgres/index.ts'
import { buildOlderLibrary, describeTwoLists, findTeam, newerLibrary } from '../store/two-lists.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openDatabase()
})
afterAll(() => server.stop())

let schemas = 0
describeTwoLists(async () => {
  const schema = `two_lists_${++schemas}`
  await migrate({ database: server.createPool({ max: 1 }), schema })
  return ({ createPostgresStore }) => createPostgresStore({ database: server.createPool(), schema, findTeam })
})

test('if servers use different suffix lists, names may overlap; a query in the guide finds them', async () => {
  const pool = server.createPool()
  await migrate({ database: pool })
  const olderLibrary = await buildOlderLibrary()
  const keyOf = (teamId: string) => ({ type: 'team', teamId, scopes: ['domains:create'] }) as const
  const client = await pool.connect()
  await client.query('BEGIN')
  const query = (text: string, values: unknown[]) => client.query(text, values)
  const older = olderLibrary.createPostgresStore({ database: { query }, findTeam })
  await olderLibrary.registerDomains(keyOf('1'), { domains: ['*.codepen.app', '*.example.com'] }, older)
  const newer = newerLibrary.createPostgresStore({ database: pool, findTeam })
  const { data } = await newerLibrary.registerDomains(keyOf('2'), { domains: ['shop.codepen.app', 'a.org'] }, newer)
  await client.query('COMMIT')
  client.release()
  expect(data.totals).toMatchObject({ created: 2 })

  const guide = readFileSync(new URL('../../docs/production.md', import.meta.url), 'utf8')
  const { rows } = await pool.query(/^```sql\n([^`]+)```/m.exec(guide)?.[1] ?? '')
  const overlap = { wildcard: '*.codepen.app', team_of_wildcard: '1', domain: 'shop.codepen.app', team_id: '2' }
  expect(rows).toEqual([overlap])
})
