/**
 * A whole service as it runs in production: Express, PostgreSQL, teams in the application's own table, API keys, a rate
 * limit, pushes to the receiver, health and readiness, logs, metrics, and a graceful stop. See README.md beside this
 * file.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import { createWebhook } from 'domain-registration/webhook'
import express from 'express'
import { Pool } from 'pg'
import { Counter, register } from 'prom-client'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { watchStore } from './prometheus.ts'

const { DATABASE_URL, WEBHOOK_URL = '', WEBHOOK_SECRET = '', PORT = '3000' } = process.env
const { DRAIN = '5000', CALLS_PER_MINUTE = '600' } = process.env
const log = (event: string, facts: object) => console.log(JSON.stringify({ time: new Date(), event, ...facts }))

// Without these limits, connections to a database that no longer responds would fill the pool for a quarter of an hour.
const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5000, query_timeout: 15_000 })
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

watchStore(store)

let isStopping = false
const calls = new Counter({
  name: 'domains_calls_total',
  help: 'Calls by the status of their response',
  labelNames: ['method', 'status'] as const,
})
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
  response.set('Content-Type', register.contentType).send(await register.metrics())
})
app.use('/v1/domains', (request, response, next) => {
  const begun = performance.now()
  // Counts and logs every call: rejected and failed ones too, and those whose caller has gone away.
  response.once('close', () => {
    const { method, path } = request
    const status = response.writableFinished ? response.statusCode : 'cut off'
    calls.inc({ method, status })
    log('call', { method, path, status, duration: Math.round(performance.now() - begun), ...response.locals })
  })
  next()
})
app.use(
  domainsRouter({
    store,
    keys,
    operations: ['create', 'preview', 'delete', 'list', 'export'],
    // For each API key. Each replica counts for itself, so this needs no query.
    rateLimiter: new RateLimiterMemory({ points: Number(CALLS_PER_MINUTE), duration: 60 }),
    onResult({ request, operation, key, keyContext }) {
      Object.assign(request.raw.res?.locals ?? {}, { operation, key: key?.hint, caller: keyContext })
    },
  }),
)
const server = app.listen(PORT).on('listening', () => {
  log('listening', { address: server.address() })
})
// Load balancers keep idle connections for up to ten minutes. One that this server closes first may lose a call.
server.keepAliveTimeout = 620_000

/** Ends within DRAIN and 12 s, whatever hangs. What is cut off was not answered, and can be sent again. */
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  // The load balancer sees that the server is no longer ready, and sends its calls elsewhere.
  await sleep(Number(DRAIN))
  const limit = setTimeout(() => server.closeAllConnections(), 8000)
  await new Promise(resolve => server.close(resolve))
  clearTimeout(limit)
  await synchronizing.stop({ timeLimit: 3000 })
  await Promise.race([pool.end(), sleep(1000)])
  log('stopped', {})
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
