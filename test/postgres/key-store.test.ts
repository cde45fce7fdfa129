import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPostgresKeyStore, type EmbeddedPostgres, migrate, type PostgresPool } from '../../src/postgres/index.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

describe.each([
  ['PostgreSQL', (): PostgresPool => server.createPool()],
  ['PGlite', (): EmbeddedPostgres => new PGlite()],
])('the key store on %s', (_, open) => {
  async function createKeys() {
    const pool = open()
    await migrate({ pool, schema: 'keys "of" mine' })
    return createPostgresKeyStore({ pool, schema: 'keys "of" mine' })
  }
  const record = {
    hash: 'a'.repeat(64),
    type: 'team',
    ownerId: '12345678901234567890123',
    scopes: ['domains:create'],
  } as const

  test('finds a key by its hash, with everything that was added', async () => {
    const keys = await createKeys()
    expect(await keys.findKey(record.hash)).toBeNull()
    await keys.addKey(record)
    expect(await keys.findKey(record.hash)).toEqual({ ...record, revokedAt: null })
    const scopes = ['a,b', '{c}', '"d"', '\\', 'NULL', '']
    const revokedAt = new Date('2026-01-02T03:04:05.678Z')
    await keys.addKey({ ...record, type: 'organization', scopes, revokedAt })
    expect(await keys.findKey(record.hash)).toEqual({ ...record, type: 'organization', scopes, revokedAt })
  })

  test('revokes a key once, and says when there is none', async () => {
    const keys = await createKeys()
    await keys.addKey(record)
    expect(await keys.revokeKey(record.hash)).toBe(true)
    const revoked = await keys.findKey(record.hash)
    expect(revoked?.revokedAt).toBeInstanceOf(Date)
    expect(await keys.revokeKey(record.hash)).toBe(true)
    expect(await keys.findKey(record.hash)).toEqual(revoked)
    expect(await keys.revokeKey('b'.repeat(64))).toBe(false)
  })
})

test('rejects when it cannot tell', async () => {
  const keys = createPostgresKeyStore({ pool: server.createPool(), schema: 'not there' })
  await expect(keys.findKey('a'.repeat(64))).rejects.toMatchObject({ code: '42P01' })
})
