import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase as openTarget } from '../../src/cli/database.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts } from '../counts.ts'
import { team1, teams } from '../fixtures.ts'
import { findPgBouncer, type PgBouncer, startPgBouncer } from './pgbouncer.ts'
import { openDatabase, type TestServer } from './server.ts'
import { describeKeyStore, describeStore } from './suites.ts'

const program = findPgBouncer()
const name = program
  ? `PgBouncer ${program.version} in transaction mode`
  : 'PgBouncer: skipped, because it is not installed (Debian: apt-get install pgbouncer)'

const CALLERS = 12
const CALLS = 8

describe.skipIf(!program)(name, () => {
  let server: TestServer
  let bouncer: PgBouncer
  let pool: Pool
  beforeAll(async () => {
    server = await openDatabase()
    bouncer = await startPgBouncer(program ?? { path: '', version: '' }, server.config)
    pool = createPool(true)
  })
  afterAll(async () => {
    await bouncer.stop()
    await server.stop()
  })
  const createPool = (pipeline: boolean) => server.createPool({ port: bouncer.port, max: CALLERS, pipeline })

  describeStore(
    'PgBouncer, without prepared statements',
    () => pool,
    { preparedStatements: false },
    counts.casesOfDrivers,
  )
  describeKeyStore('PgBouncer, without prepared statements', () => pool, { preparedStatements: false })

  /** There are more callers than sessions, so a session serves several callers in turn. */
  async function call(through: Pool, schema: string, preparedStatements: boolean): Promise<unknown[]> {
    await migrate({ database: through, schema })
    const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
    const store = createPostgresStore({ database: through, schema, findTeam, preparedStatements })
    const failures: unknown[] = []
    async function work(_: unknown, caller: number): Promise<void> {
      for (let call = 0; call < CALLS; call += 1) {
        const domains = [`caller-${caller}.com`, `www.call-${call}-${caller}.com`]
        const calling = registerDomains(team1, { domains }, store, { onError: error => failures.push(error) })
        // A call rejects if it could not save any name.
        await calling.catch(error => failures.push(error.cause ?? error))
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, work))
    return failures
  }

  test.each([
    ['with', true],
    ['without', false],
  ])('%s pipelining, all calls succeed if statements have no names', async (word, pipeline) => {
    const schema = `${word}_pipelining`
    expect(await call(createPool(pipeline), schema, false)).toEqual([])
    const { rows } = await pool.query(`SELECT count(*)::integer FROM ${schema}.names`)
    expect(rows).toEqual([{ count: CALLERS + CALLERS * CALLS }])
  })

  test('commands of the command line prepare no statements', async () => {
    const { user, password, database } = server.config
    const url = `postgres://${user}:${password}@127.0.0.1:${bouncer.port}/${database}`
    const before = server.readLog().length
    await migrate({ database: pool })
    // Each command has its own connection, and there are more connections than sessions.
    const commands = Array.from({ length: CALLERS }, () => openTarget({ kind: 'postgres', url, schema: undefined }))
    for (const command of commands) {
      await command.createKeyStore().findKey('a'.repeat(64))
      await command.createStore().release('1', ['www.example.com'])
    }
    expect(server.readLog().slice(before)).not.toContain('prepared statement')
    await Promise.all(commands.map(command => command.close()))
  })

  // The last test: the server may still log its errors when it has ended.
  test('calls succeed even if statements have names, because a call that fails is repeated without names', async () => {
    expect(await call(createPool(true), 'with_names', true)).toEqual([])
    expect(server.readLog()).toMatch(/prepared statement "domain_registration_\w+" (does not|already) exist/)
  })
})
