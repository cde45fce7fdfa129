/** The receiver of the pushes: verifies each request, and keeps what it has seen. Replace it with your monitor. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyWebhook, WebhookVerificationError } from 'domain-registration/webhook'
import { Pool } from 'pg'

const { DATABASE_URL, WEBHOOK_SECRET = '', PORT = '4000' } = process.env
const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5000 })
pool.on('error', ({ message }) => console.error(message))

let isStopping = false

/** Changes may arrive twice or late. One statement saves all changes of a request, or none. */
const save = `
  INSERT INTO watched
  SELECT DISTINCT ON (domain_id) domain_id, domain, is_released
  FROM unnest($1::text[], $2::text[], $3::boolean[]) AS change (domain_id, domain, is_released)
  ORDER BY domain_id, is_released DESC
  ON CONFLICT (domain_id) DO UPDATE SET is_released = watched.is_released OR excluded.is_released`

const server = createServer(async (request, response) => {
  response.setHeader('Connection', isStopping ? 'close' : 'keep-alive')
  if (request.method !== 'POST') return response.writeHead(204).end()
  try {
    const { data } = await verifyWebhook(request.headers, await text(request), WEBHOOK_SECRET)
    const { changes } = data
    await pool.query(save, [
      changes.map(({ domainId }) => domainId),
      changes.map(({ domain }) => domain),
      changes.map(({ kind }) => kind === 'released'),
    ])
    response.writeHead(204).end()
  } catch (error) {
    const isForged = error instanceof WebhookVerificationError
    if (!isForged) console.error(error)
    response.writeHead(isForged ? 401 : 503).end()
  }
})
server.listen(PORT, () => console.log(JSON.stringify({ event: 'listening', address: server.address() })))

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    isStopping = true
    server.close(() => pool.end())
    server.closeIdleConnections()
  })
