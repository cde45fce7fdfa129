import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDeadline } from '../../src/deadline.ts'
import { type EmbeddedPostgres, type PostgresPool, toDatabase } from '../../src/postgres/connection.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { domainStoreSuite } from '../../src/testing/domain-store-suite.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** Cases run one after the other, in a schema whose name must be quoted. */
function describeStore(name: string, open: () => PostgresPool | EmbeddedPostgres) {
  describe(name, () => {
    const schema = `Ä "${name}" 🌍 $1; --`
    const table = `"${schema.replaceAll('"', '""')}".names`
    let pool: PostgresPool | EmbeddedPostgres
    beforeAll(async () => {
      pool = open()
      await migrate({ pool, schema })
    })
    const cases = domainStoreSuite({
      async createStore({ teams, synchronize }) {
        await toDatabase(pool).ask(createDeadline(5000), { name: 'clear', text: `DELETE FROM ${table}` })
        return createPostgresStore({
          pool,
          schema,
          findTeam: id => teams.find(team => team.id === id) ?? null,
          synchronize,
        })
      },
      features: ['synchronize', 'synchronizePending', 'release'],
    })
    test.each(cases)('$name', ({ run }) => run())
    test('is asked many cases', () => expect(cases.length).toBeGreaterThan(80))
  })
}

describeStore('the store on PostgreSQL, pipelined', () => server.createPool({ pipeline: true }))
describeStore('the store on PostgreSQL, one statement after the other', () => server.createPool())
describeStore('the store on PGlite', () => new PGlite())
