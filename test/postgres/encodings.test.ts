import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { submitForCodes } from '../../src/testing/calls.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

test.each(['LATIN1', 'WIN1252', 'KOI8R', 'EUC_JP', 'SQL_ASCII', 'UTF8'])(
  'names and wildcards are registered in a database of encoding %s',
  async encoding => {
    const database = `in_${encoding.toLowerCase()}`
    await server.createPool().query(`CREATE DATABASE ${database} ENCODING ${encoding} LOCALE 'C' TEMPLATE template0`)
    const pool = server.createPool({ database, pipeline: true })
    await migrate({ pool })
    const store = createPostgresStore({ pool, findTeam: id => ({ id, organizationId: '1', state: 'active' }) })
    expect(await submitForCodes(store, '1', ['*.example.com', '*.b.example.org', 'zürich.example.net'])).toEqual(
      Array(3).fill('created'),
    )
    expect(await submitForCodes(store, '1', ['*.example.org', '*.example.net', 'a.example.com'])).toEqual([
      'subdomain_conflict',
      'subdomain_conflict',
      'wildcard_conflict',
    ])
    expect(await submitForCodes(store, '2', ['*.example.org', '*.example.net'])).toEqual(
      Array(2).fill('domain_already_licensed'),
    )
    await pool.end()
  },
)
