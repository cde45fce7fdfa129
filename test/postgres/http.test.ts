import type { AddressInfo } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import express from 'express'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { generateApiKey } from '../../src/keys/api-key.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  type EmbeddedPostgres,
  migrate,
  type PostgresPool,
} from '../../src/postgres/index.ts'
import { scopes, teams } from '../fixtures.ts'
import { startServer, type TestServer } from './server.ts'

let database: TestServer
beforeAll(async () => {
  database = await startServer()
})
afterAll(() => database.stop())

describe.each([
  ['PostgreSQL', (): PostgresPool => database.createPool({ pipeline: true })],
  ['PGlite', (): EmbeddedPostgres => new PGlite()],
])('over HTTP, with registrations and keys in %s,', (_, open) => {
  async function serve() {
    const pool = open()
    await migrate({ pool })
    const monitor = { isOnline: true, watched: [] as string[] }
    const keys = createPostgresKeyStore({ pool })
    const store = createPostgresStore({
      pool,
      findTeam: id => teams.find(team => team.id === id) ?? null,
      synchronize(registrations) {
        if (!monitor.isOnline) throw new Error('The monitor is offline')
        monitor.watched.push(...registrations.map(({ domainId }) => domainId))
      },
    })
    const onError = vi.fn()
    const server = express().use(domainsRouter({ store, keys, onError })).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
    await keys.addKey({ hash, type: 'team', ownerId: '1', scopes })
    async function post(domains: readonly string[]) {
      const response = await fetch(`http://127.0.0.1:${port}/v1/domains`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ domains }),
      })
      return { status: response.status, body: await response.json() }
    }
    return { post, monitor, keys, hash, store, onError, close: () => server.close() }
  }

  test('names are registered once, pushed, and answered with the same IDs; a revoked key is refused', async () => {
    const { post, monitor, keys, hash, store, onError, close } = await serve()
    try {
      const domains = ['www.example.com', '*.example.org', 'example.net', 'localhost']
      monitor.isOnline = false
      expect(await post(domains)).toMatchObject({ status: 503, body: { error: 'domain_registration_unavailable' } })
      expect(onError).toHaveBeenCalledTimes(1)
      monitor.isOnline = true
      const retry = await post(domains)
      expect(retry).toMatchObject({
        status: 200,
        body: { data: { totals: { created: 0, existing: 3, invalid: 1 } } },
      })
      const ids = retry.body.data.results.flatMap(({ domainId = [] }) => domainId)
      expect(monitor.watched).toEqual(ids)
      expect(await store.synchronizePending()).toBe(0)
      const third = await post(domains)
      expect(third).toEqual(retry)
      expect(monitor.watched).toHaveLength(3)

      expect(await keys.revokeKey(hash)).toBe(true)
      expect(await post(domains)).toMatchObject({ status: 401 })
    } finally {
      close()
    }
  })
})
