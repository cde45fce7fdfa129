import { Pool } from 'pg'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import { expect, onTestFinished, test } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import { generateApiKey } from '../../src/index.ts'
import { createPostgresKeyStore, createPostgresStore } from '../../src/postgres/index.ts'
import { createStore, teams } from '../fixtures.ts'
import { findFreePort } from '../postgres/free-port.ts'

const scopes = ['domains:create', 'domains:delete', 'domains:read']
const authenticate = () => ({ type: 'team', teamId: '1', scopes }) as const
const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
const onError = () => {}

/** Options of servers, by the part of the server that is the first to query the database. */
const askers = {
  'the key store’s': (database: Pool) => ({
    store: createPostgresStore({ database, findTeam }),
    keys: createPostgresKeyStore({ database }),
  }),
  'the rate limiter’s': (database: Pool) => ({
    store: createStore(),
    authenticate,
    rateLimiter: new RateLimiterPostgres({ storeClient: database, tableCreated: true, points: 9, duration: 1 }),
  }),
  'findTeam’s': (database: Pool) => ({
    store: { ...createStore(), findTeam: async (id: string) => (await database.query('SELECT $1', [id])).rows[0] },
    authenticate,
  }),
  'the store’s': (database: Pool) => ({ store: createPostgresStore({ database, findTeam }), authenticate }),
}

test.each(Object.entries(askers))(
  'while %s database is down, every operation returns 500 with Retry-After',
  async (_, ask) => {
    const database = new Pool({ host: '127.0.0.1', port: await findFreePort() })
    onTestFinished(() => database.end())
    const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
    const handle = domainsHandler({ ...ask(database), operations, onError })
    const { key } = await generateApiKey({ type: 'team', id: '1' })
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ domains: ['a.com', 'b.com'] })
    const calls = [
      ['POST', ''],
      ['POST', '/preview'],
      ['POST', '/delete'],
      ['GET', ''],
      ['GET', '/export'],
    ] as const
    for (const [method, suffix] of calls) {
      const request = new Request(`http://localhost/v1/domains${suffix}`, {
        method,
        headers,
        ...(method === 'POST' && { body }),
      })
      const answer = await handle(request)
      expect([suffix, answer.status, answer.headers.get('Retry-After')]).toEqual([suffix, 500, '5'])
    }
  },
)
