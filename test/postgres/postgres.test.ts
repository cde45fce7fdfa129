import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { openDatabase, type TestServer } from './server.ts'
import { describeKeyStore, describeStore } from './suites.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool({ pipeline: true })
})
afterAll(() => server.stop())

describeStore('PostgreSQL, pipelined', () => pool)
describeStore('PostgreSQL, one statement after the other', () => server.createPool())
describeKeyStore('PostgreSQL', () => pool)
