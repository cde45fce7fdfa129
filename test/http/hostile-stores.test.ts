import express from 'express'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { createSqliteKeyStore, createSqliteStore } from '../../src/sqlite/index.ts'
import { teams } from '../fixtures.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { openDatabase as openSqlite, type TestDatabase } from '../sqlite/open-database.ts'
import { describeHostileHttp } from './hostile.ts'
import { startExpress } from './servers.ts'

const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
const opened: TestDatabase[] = []
let schemas = 0
let server: TestServer
beforeAll(async () => {
  server = await openDatabase()
})
afterAll(async () => {
  for (const database of opened) database.close()
  await server.stop()
})

describeHostileHttp('Express 5 on SQLite', startExpress(express), {
  open() {
    const database = openSqlite()
    opened.push(database)
    return { store: createSqliteStore({ database, findTeam }), keys: createSqliteKeyStore({ database }) }
  },
})

describeHostileHttp('Express 5 on PostgreSQL', startExpress(express), {
  async open() {
    const options = { database: server.createPool({ max: 4 }), schema: `hostile ${++schemas}` }
    await migrate(options)
    return { store: createPostgresStore({ ...options, findTeam }), keys: createPostgresKeyStore(options) }
  },
})
