import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresTransaction,
  postgresSchema,
} from '../../src/postgres/index.ts'
import { SCHEMA_VERSION } from '../../src/postgres/schema.ts'
import { readColumns } from '../../src/sql/tables.ts'
import { save } from '../../src/testing/calls.ts'
import { run, toUrl } from '../cli/program.ts'
import { rejection } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openDatabase()
})
afterAll(() => server.stop())

const STARTS = 12

test.each([
  ['there is no schema', 'fresh', 'SELECT'],
  ['the schema is empty', 'empty', 'CREATE SCHEMA empty'],
])('if %s, servers that migrate simultaneously at startup all find their tables', async (_, schema, before) => {
  await server.createPool().query(before)
  const pools = Array.from({ length: STARTS }, () => server.createPool({ max: 1 }))
  await Promise.all(pools.map(pool => pool.query('SELECT')))
  await Promise.all(pools.map(pool => migrate({ database: pool, schema })))
  const [pool] = pools as [(typeof pools)[0]]
  expect((await pool.query(`SELECT version FROM ${schema}.version`)).rows).toEqual([{ version: SCHEMA_VERSION }])
  expect(
    await save(createPostgresStore({ database: pool, schema, findTeam: () => null }), '1', ['example.com']),
  ).toHaveLength(1)
})

test('four servers that migrate simultaneously all find their tables, even if lock_timeout is 20 ms', async () => {
  const pools = Array.from({ length: 4 }, () => server.createPool({ max: 1, options: '-c lock_timeout=20ms' }))
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(pools.map(pool => migrate({ database: pool, schema: `impatient_${round}` })))
  }
})

test('after a migration from version 1, each release is pushed, after the registration that it follows', async () => {
  const pool = server.createPool()
  const tables = readFileSync(new URL('schema-1.sql', import.meta.url), 'utf8')
  await pool.query(tables.replaceAll('"domain_registration"', 'first'))
  const toId = (digit: string) => `00000000-0000-7000-8000-00000000000${digit}`
  const insert = (id: string, kind: string, follows: string | null) =>
    pool.query(
      `INSERT INTO first.changes
         (domain_id, due, since, kind, second_level_domain, domain, registrable_domain, team_id, follows)
       VALUES ($1, now(), now(), $2, 'a.com', 'a.com', 'a.com', '1', $3)`,
      [toId(id), kind, follows && toId(follows)],
    )
  await insert('1', 'registered', null)
  await insert('2', 'released', '1')
  await insert('3', 'released', '4') // ID 4 is no longer pending.
  await migrate({ database: pool, schema: 'first' })
  const pushed: string[] = []
  const store = createPostgresStore({
    database: pool,
    schema: 'first',
    findTeam: () => null,
    batchSize: 1,
    synchronize: changes => void pushed.push(...changes.map(({ domainId }) => domainId)),
  })
  await store.synchronizePending()
  expect(pushed.toSorted()).toEqual(['1', '2', '3'].map(toId))
  expect(pushed.indexOf(toId('2'))).toBeGreaterThan(pushed.indexOf(toId('1')))
})

test('`migrate` waits for another migration longer than the timeouts of its role allow', async () => {
  const other = await server.createPool({ max: 1 }).connect()
  await other.query('BEGIN')
  await other.query(postgresSchema({ schema: 'patient' }))
  const { rows } = await other.query(
    "SELECT count(*)::int AS newer FROM pg_settings WHERE name = 'transaction_timeout'",
  )
  const options = `-c statement_timeout=50ms${rows[0].newer ? ' -c transaction_timeout=50ms' : ''}`
  const migrating = migrate({ database: server.createPool({ options }), schema: 'patient' })
  // The other migration goes on until this one has waited for longer than its role's timeouts.
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND clock_timestamp() - state_change > interval '100 ms'`
  const admin = server.createPool()
  let isOver = false
  const settled = migrating.finally(() => {
    isOver = true
  })
  settled.catch(() => {})
  while (!isOver && (await admin.query(waiting)).rows.length === 0);
  await other.query('COMMIT')
  other.release()
  await settled
})

test('a role that owns its schema, and may not create one, can migrate', async () => {
  const pool = server.createPool()
  await pool.query(`CREATE ROLE tenant LOGIN PASSWORD 'tenant-password'; CREATE SCHEMA tenant AUTHORIZATION tenant`)
  const own = server.createPool({ user: 'tenant', password: 'tenant-password' })
  await expect(own.query('CREATE SCHEMA another')).rejects.toMatchObject({ code: '42501' })
  await migrate({ database: own, schema: 'tenant' })
  const store = createPostgresStore({ database: own, schema: 'tenant', findTeam: () => null })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
  await pool.query('DROP OWNED BY tenant; DROP ROLE tenant')
})

test.each([
  ['there is no schema', 'SELECT', /CREATE SCHEMA "not ""yours" AUTHORIZATION "Guest"/],
  [
    'the role may only use the schema',
    'CREATE SCHEMA "not ""yours"; GRANT USAGE ON SCHEMA "not ""yours" TO "Guest"',
    /GRANT .+/,
  ],
  ['the role may not even use the schema', 'CREATE SCHEMA "not ""yours"', /GRANT .+/],
])('if %s, `migrate` and the command say what lets the role migrate, and this is true', async (_, before, remedy) => {
  const pool = server.createPool()
  await pool.query(`CREATE ROLE "Guest" LOGIN PASSWORD 'guest'; ${before}`)
  const config = { ...server.config, user: 'Guest', password: 'guest' }
  const [own, schema] = [server.createPool(config), 'not "yours']
  try {
    const migrating = rejection(migrate({ database: own, schema }))
    const message = /^Until an administrator runs (.+), this role may not create the tables$/
    await expect(migrating).resolves.toMatchObject({
      message: expect.stringMatching(message),
      cause: { code: '42501' },
    })
    const sql = message.exec(((await migrating) as Error).message)?.[1] ?? ''
    expect(sql).toMatch(remedy)
    const command = () => run(['migrate', '--schema', schema], { env: { DATABASE_URL: toUrl(config) } })
    expect(await command()).toMatchObject({ code: 1, stderr: expect.stringContaining(sql) })
    await pool.query(sql)
    expect(await command()).toMatchObject({ code: 0, stdout: expect.stringContaining('Created the tables') })
    await migrate({ database: own, schema })
  } finally {
    await pool.query('DROP SCHEMA IF EXISTS "not ""yours" CASCADE; DROP OWNED BY "Guest"; DROP ROLE "Guest"')
  }
})

test('if the tables exist, and the role may not read them, `migrate` passes on the error of PostgreSQL', async () => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'foreign' })
  await pool.query("CREATE ROLE stranger LOGIN PASSWORD 'stranger'")
  const own = server.createPool({ user: 'stranger', password: 'stranger' })
  const message = 'permission denied for schema foreign'
  await expect(migrate({ database: own, schema: 'foreign' })).rejects.toMatchObject({ code: '42501', message })
  await pool.query('DROP ROLE stranger')
})

test('a schema name that PostgreSQL would cut is rejected, because two such names would be one registry', async () => {
  const database = server.createPool()
  const longest = 'ü'.repeat(31)
  await migrate({ database, schema: `${longest}x` })
  for (const schema of [`${longest}xx`, 'x'.repeat(64)]) {
    await expect(migrate({ database, schema })).rejects.toThrow('at most 63 bytes')
    expect(() => createPostgresStore({ database, schema, findTeam: () => null })).toThrow('at most 63 bytes')
    expect(() => createPostgresKeyStore({ database, schema })).toThrow('at most 63 bytes')
    expect(() => postgresSchema({ schema })).toThrow('at most 63 bytes')
  }
})

test('a second migration keeps all rows, and succeeds even in a read-only session', async () => {
  const pool = server.createPool()
  await migrate({ database: pool })
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  await save(store, '1', ['b.a.example.com', '*.example.org'])
  const before = await store.list()
  await migrate({ database: server.createPool({ options: '-c default_transaction_read_only=on' }) })
  await pool.query(postgresSchema())
  expect(before).toHaveLength(2)
  expect(await store.list()).toEqual(before)
})

test('`migrate` rejects tables of a later version', async () => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'later' })
  await pool.query(`INSERT INTO later.version (version) VALUES (${SCHEMA_VERSION + 1})`)
  await expect(migrate({ database: pool, schema: 'later' })).rejects.toThrow('The tables have version')
})

test.each(['names', 'changes', 'locks', 'monitor', 'keys'])(
  '`migrate` rejects if the table "%s" was dropped, and does not replace it with an empty one',
  async table => {
    const pool = server.createPool()
    const schema = `without "${table}`
    await migrate({ database: pool, schema })
    const dropped = `"without ""${table}".${table}`
    await pool.query(`DROP TABLE ${dropped}`)
    const message = `Tables have been dropped, or were not restored: ${dropped}. `
    await expect(migrate({ database: pool, schema })).rejects.toThrow(message)
  },
)

test('`migrate` names all missing tables if several were dropped', async () => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'bereft' })
  await pool.query('DROP TABLE bereft.keys, bereft.monitor')
  const { message } = (await rejection(migrate({ database: pool, schema: 'bereft' }))) as Error
  expect(message.match(/"bereft"\.\w+/g)).toEqual(['"bereft".monitor', '"bereft".keys'])
})

test.each([
  [
    'have the version that this package needs',
    'ALTER TABLE built.changes DROP COLUMN sweeps CASCADE; ALTER TABLE built.keys DROP COLUMN hint',
    '"built".changes.sweeps, "built".changes.line, "built".keys.hint',
  ],
  ['have no version', 'ALTER TABLE built.keys DROP COLUMN hint; DELETE FROM built.version', '"built".keys.hint'],
])('`migrate` names the columns that tables of an earlier build lack, if they %s', async (_, sql, names) => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'built' })
  await pool.query(sql)
  const { rows: before } = await pool.query('SELECT version FROM built.version')
  const message = `The tables lack columns that this version needs: ${names}. Run "domain-registration doctor"`
  await expect(migrate({ database: pool, schema: 'built' })).rejects.toThrow(new Error(message))
  expect((await pool.query('SELECT version FROM built.version')).rows).toEqual(before)
  await pool.query('DROP SCHEMA built CASCADE')
})

test('the columns that `migrate` requires are those that it creates', async () => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'complete' })
  const { rows } = await pool.query(
    `SELECT quote_ident(table_schema) || '.' || table_name || '.' || column_name AS name
     FROM information_schema.columns WHERE table_schema = 'complete'`,
  )
  const needed = readColumns(postgresSchema({ schema: 'complete' }), {})
  expect(needed.map(({ table, column }) => `${table.replaceAll('"', '')}.${column}`).sort()).toEqual(
    rows.map(({ name }) => name).sort(),
  )
})

test('`migrate` ends at its time limit while another program locks the tables', async () => {
  const pool = server.createPool()
  await migrate({ database: pool, schema: 'busy' })
  const other = await pool.connect()
  await other.query('BEGIN; LOCK TABLE busy.version')
  const migrating = rejection(migrate({ database: pool, schema: 'busy', timeLimit: 100 }))
  const late = new Promise(resolve => setTimeout(resolve, 5000, 'too late'))
  const ended = await Promise.race([migrating, late])
  await other.query('COMMIT')
  other.release()
  expect(ended).toMatchObject({ name: 'TimeLimitError' })
})

test('if `migrate` fails, it rejects with the reason, and creates nothing', async () => {
  const pool = server.createPool()
  await pool.query('CREATE SCHEMA occupied; CREATE VIEW occupied.names AS SELECT 1 AS domain_id')
  await expect(rejection(migrate({ database: pool, schema: 'occupied', timeLimit: 2000 }))).resolves.toMatchObject({
    code: '42809',
  })
  const { rows } = await pool.query("SELECT FROM pg_class WHERE oid = to_regclass('occupied.changes')")
  expect(rows).toEqual([])
})

test('the SQL from postgresSchema creates everything that a store needs, and can run twice', async () => {
  const pool = server.createPool()
  for (let run = 0; run < 2; run += 1) await pool.query(postgresSchema({ schema: 'mine' }))
  const store = createPostgresStore({ database: pool, schema: 'mine', findTeam: () => null })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
})

test.each(['', 'a\0b'])('%j is rejected as a schema name', schema => {
  expect(() => postgresSchema({ schema })).toThrow(TypeError)
})

describe('if the first transaction of `migrate` fails,', () => {
  /** A database whose first transaction fails. */
  function createRacing(failure: object): PostgresBridge {
    const pool = server.createPool({ max: 1 })
    const query = (text: string, values: unknown[]) => pool.query(text, values)
    let isFirst = true
    return {
      query,
      async transaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
        if (isFirst) {
          isFirst = false
          throw Object.assign(new Error('race'), failure)
        }
        return work({ query })
      },
    }
  }

  test.each(['23505', '42P07', '42P06', '42710', '42P16', '40001', '40P01', '55P03', 'XX000'])(
    'it is repeated after the error %s, because another process may be creating the tables',
    async code => {
      const schema = `race_${code}`
      await migrate({ database: createRacing({ code }), schema })
      expect((await server.createPool().query(`SELECT version FROM "${schema}".version`)).rowCount).toBe(1)
    },
  )

  test.each([{ code: '42501' }, { code: 'XX000', hint: 'Connect to the coordinator' }])(
    'it is not repeated after the error %o, because a retry would not help',
    async failure => {
      await expect(migrate({ database: createRacing(failure), schema: 'refused' })).rejects.toMatchObject(failure)
    },
  )
})

test('`migrate` creates missing tables if a migration tool has stopped before recording the version', async () => {
  const pool = server.createPool()
  const [unfinished = ''] = postgresSchema({ schema: 'unfinished' }).split('INSERT INTO')
  await pool.query(`${unfinished}; DROP TABLE unfinished.names`)
  await migrate({ database: pool, schema: 'unfinished' })
  const store = createPostgresStore({ database: pool, schema: 'unfinished', findTeam: () => null })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
})
