import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createMortalServer, type MortalServer } from './mortal-server.ts'

let server: MortalServer
beforeAll(async () => {
  server = await createMortalServer()
  await server.start()
}, 60_000)
afterAll(() => server.remove())

test('with synchronous_commit = off for the database, everything that was acknowledged survives a crash', async () => {
  const admin = new Pool(server.config)
  admin.on('error', () => {})
  await migrate({ database: admin })
  // The process that writes the log in the background stays asleep, so only commits that wait reach the disk.
  await admin.query("ALTER SYSTEM SET wal_writer_delay = '10s'")
  await admin.query(`ALTER DATABASE ${server.config.database} SET synchronous_commit = 'off'`)
  await admin.query('SELECT pg_reload_conf()')
  await admin.end()

  const pool = new Pool(server.config)
  pool.on('error', () => {})
  expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
  const findTeam = () => null
  const store = createPostgresStore({ database: pool, findTeam })
  const bridged = createPostgresStore({ database: toBridge(pool), findTeam })
  const keys = createPostgresKeyStore({ database: pool })
  const { hash } = await generateApiKey({ type: 'team', id: '1' })
  await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: [] })
  await save(store, '1', ['released.com'])
  const names = Array.from({ length: 20 }, (_, index) => `n${index}.com`)
  for (const [index, name] of names.entries()) await save(index % 2 === 0 ? store : bridged, '1', [name])
  await store.release('1', ['released.com'])
  await keys.revokeKey(hash)
  await server.killAll()

  await server.start()
  expect((await store.list()).map(({ domain }) => domain)).toEqual(names)
  expect(await keys.findKey(hash)).toMatchObject({ revokedAt: expect.any(Date) })
  await pool.end()
}, 60_000)

test('a stronger synchronous_commit is kept', async () => {
  const strong = new Pool({ ...server.config, options: '-c synchronous_commit=remote_apply' })
  const settings: unknown[] = []
  const watched = toBridge(strong, async client => {
    settings.push(...(await client.query('SHOW synchronous_commit', [])).rows)
  })
  await save(createPostgresStore({ database: watched, findTeam: () => null }), '1', ['strong.com'])
  await strong.end()
  expect(settings).toContainEqual({ synchronous_commit: 'remote_apply' })
  expect(settings).not.toContainEqual({ synchronous_commit: 'on' })
}, 60_000)

/** A bridge to another driver, here to `pg`. */
function toBridge(pool: Pool, beforeCommit: (client: PostgresTransaction) => Promise<void> = async () => {}) {
  const bridge: PostgresBridge = {
    query: (text, values) => pool.query(text, [...values]),
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const transaction: PostgresTransaction = { query: (text, values) => client.query(text, [...values]) }
        const result = await work(transaction)
        await beforeCommit(transaction)
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {})
        throw error
      } finally {
        client.release()
      }
    },
  }
  return bridge
}
