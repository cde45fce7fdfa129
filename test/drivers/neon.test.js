/** Tests the stores with Neon's pool, through a WebSocket, on PostgreSQL. Run by `npm run test:drivers`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { pipeline } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { neonConfig, Pool } from '@neondatabase/serverless'
import { registerDomains } from 'domain-registration'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import WebSocket, { createWebSocketStream, WebSocketServer } from 'ws'
import { createMortalServer } from '../postgres/mortal-server.ts'

/** Opens a connection to PostgreSQL for each WebSocket, and passes on all bytes, as the proxy of Neon does. */
async function startProxy({ host, port }) {
  const proxy = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  proxy.on('connection', socket => {
    const stream = createWebSocketStream(socket)
    const server = connect({ host, port, noDelay: true })
    // If one of the two is lost, the pipeline ends the other.
    pipeline(stream, server, stream, () => {})
  })
  await once(proxy, 'listening')
  return proxy
}

describe("Neon's pool, through a WebSocket,", () => {
  let server
  let proxy
  let database
  before(async () => {
    server = await createMortalServer()
    await server.start()
    proxy = await startProxy(server.config)
    Object.assign(neonConfig, {
      webSocketConstructor: WebSocket,
      wsProxy: () => `127.0.0.1:${proxy.address().port}/`,
      useSecureWebSocket: false,
      pipelineConnect: false,
    })
    const { user, password, host, port } = server.config
    database = new Pool({ connectionString: `postgres://${user}:${password}@${host}:${port}/postgres` })
    // Without a listener, a connection that the server closes while nobody uses it would end the process.
    database.on('error', () => {})
    await migrate({ database })
  })
  after(async () => {
    await database.end()
    await new Promise(resolve => proxy.close(resolve))
    await server.remove()
  })

  const cases = domainStoreSuite({
    async createStore({ teams, ...options }) {
      for (const table of ['names', 'changes', 'monitor'])
        await database.query(`DELETE FROM domain_registration.${table}`)
      const findTeam = id => teams.find(team => team.id === id) ?? null
      return createPostgresStore({ ...options, database, findTeam })
    },
    features: [...managedStoreFeatures, 'import', 'transfer'],
    timeLimit: 20_000,
  })
  for (const { name, run } of cases) test(name, run)
  test('runs more than a hundred cases', () => assert.ok(cases.length > 100))

  test('stores and finds keys', async () => {
    const keys = createPostgresKeyStore({ database })
    const hash = 'a'.repeat(64)
    const record = { hash, type: 'team', ownerId: '1', scopes: ['domains:create'], expiresAt: new Date('2030-01-01') }
    assert.deepEqual([await keys.addKey(record), await keys.addKey(record)], [true, false])
    const found = await keys.findKey(hash)
    assert.deepEqual({ ...found, ...record }, found)
  })

  test('registers the names of a transaction of your own only if it commits', async () => {
    const team = { id: '1', organizationId: '10', state: 'active' }
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
    const findTeam = () => team
    for (const [end, domain] of [
      ['ROLLBACK', 'undone.example.com'],
      ['COMMIT', 'kept.example.com'],
    ]) {
      const client = await database.connect()
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const transaction = { query: (text, values) => client.query(text, values) }
      const store = createPostgresStore({ database: transaction, findTeam })
      assert.equal((await registerDomains(keyContext, { domains: [domain] }, store)).data.totals.created, 1)
      await client.query(end)
      client.release()
    }
    const listed = await createPostgresStore({ database, findTeam }).list({ below: 'example.com' })
    assert.deepEqual(
      listed.map(({ domain }) => domain),
      ['kept.example.com'],
    )
  })

  test('sends everything through the proxy', () => assert.ok(proxy.clients.size > 0))
})
