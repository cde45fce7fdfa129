import { afterAll, beforeAll } from 'vitest'
import { migrate } from '../../src/postgres/index.ts'
import { describeTwoLists, findTeam } from '../registry/two-lists.ts'
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
