/**
 * A whole service as it runs in production: Express, PostgreSQL, teams in the application's own table, API keys, pushes
 * to the receiver, health and readiness, logs, metrics, and a graceful stop. See README.md beside this file.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import { createWebhook } from 'domain-registration/webhook'
import express from 'express'
import { Pool } from 'pg'

const { DATABASE_URL, WEBHOOK_URL = '', WEBHOOK_SECRET = '', PORT = '3000', DRAIN = '5000' } = process.env
const log = (event: string, facts: object) => console.log(JSON.stringify({ time: new Date(), event, ...facts }))

const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5000 })
pool.on('error', ({ message }) => log('idle connection lost', { message }))
await migrate({ database: pool })
await pool.query(await readFile(new URL('tables.sql', import.meta.url), 'utf8'))

const store = createPostgresStore({
  database: pool,
  async findTeam(id) {
    // An integer column has no longer IDs, and PostgreSQL would answer with an error.
    if (!/^[0-9]{1,9}$/.test(id)) return null
    const text = `SELECT id, organization_id AS "organizationId", state, max_domains AS "maxDomains"
      FROM teams WHERE id = $1`
    return (await pool.query(text, [id])).rows[0] ?? null
  },
  synchronize: createWebhook({ url: WEBHOOK_URL, secret: WEBHOOK_SECRET }),
})
const keys = createPostgresKeyStore({ database: pool })
const synchronizing = startSynchronizing(store)

let isStopping = false
const calls = new Map<string, number>()
const app = express().disable('x-powered-by')
app.use((_request, response, next) => {
  // Otherwise a load balancer would keep its connections open, and send calls until the process is killed.
  if (isStopping) response.set('Connection', 'close')
  next()
})
app.get('/health', (_request, response) => void response.sendStatus(204))
app.get('/ready', (_request, response) => void response.sendStatus(isStopping ? 503 : 204))
// Open only to your own network: let the load balancer forward nothing but /v1/domains.
app.get('/metrics', async (_request, response) => {
  const { count, refused } = await store.pendingStats()
  const lines = [...calls].map(([labels, value]) => `domains_calls_total{${labels}} ${value}`)
  response.type('text/plain').send([...lines, `domains_pending ${count}`, `domains_refused ${refused}`, ''].join('\n'))
})
app.use(
  domainsRouter({
    store,
    keys,
    operations: ['create', 'preview', 'delete', 'list', 'export'],
    onResult({ operation, status, duration, key, keyContext }) {
      const labels = `operation="${operation}",status="${status}"`
      calls.set(labels, (calls.get(labels) ?? 0) + 1)
      log('call', { operation, status, duration: Math.round(duration), key: key?.hint, caller: keyContext })
    },
  }),
)
const server = app.listen(PORT, error => {
  if (error) throw error
  log('listening', { address: server.address() })
})

async function stop(): Promise<void> {
  isStopping = true
  // The load balancer sees that the server is no longer ready, and sends its calls elsewhere.
  await sleep(Number(DRAIN))
  const closed = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  await closed
  await synchronizing.stop({ timeLimit: 3000 })
  await pool.end()
  log('stopped', {})
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
