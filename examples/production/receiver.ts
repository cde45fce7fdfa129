/** The receiver of the pushes: verifies each request, and keeps what it has seen. Replace it with your monitor. */
import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyWebhook, WebhookVerificationError } from 'domain-registration/webhook'
import { Pool } from 'pg'

const { DATABASE_URL, WEBHOOK_SECRET = '', PORT = '4000' } = process.env
const log = (event: string, facts: object) => console.log(JSON.stringify({ time: new Date(), event, ...facts }))
const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5000, query_timeout: 10_000 })
pool.on('error', ({ message }) => log('idle connection lost', { message }))

/** 100 changes are about 20 kB. Whoever has no secret can send more, but none of it is kept. */
const MAX_BODY = 1_000_000

let isStopping = false

/** Changes may arrive twice or late. One statement saves all changes of a request, or none. */
const save = `
  INSERT INTO watched
  SELECT DISTINCT ON (domain_id) domain_id, domain, is_released
  FROM unnest($1::text[], $2::text[], $3::boolean[]) AS change (domain_id, domain, is_released)
  ORDER BY domain_id, is_released DESC
  ON CONFLICT (domain_id) DO UPDATE SET is_released = watched.is_released OR excluded.is_released`

/** @returns The status of the response. */
async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST') return 204
  const body = await read(request)
  if (body === null) return 413
  const { data } = await verifyWebhook(request.headers, body, WEBHOOK_SECRET)
  const { changes } = data
  await pool.query(save, [
    changes.map(({ domainId }) => domainId),
    changes.map(({ domain }) => domain),
    changes.map(({ kind }) => kind === 'released'),
  ])
  return 204
}

/** Reads a body; `null` if it is too large. */
async function read(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > MAX_BODY) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 620_000 }, async (request, response) => {
  const status = await receive(request).catch(error => {
    if (error instanceof WebhookVerificationError) return 401
    log('failed', { code: error.code, message: error.message })
    return 503
  })
  if (isStopping) response.setHeader('Connection', 'close')
  response.writeHead(status).end()
  request.resume() // discards the rest of a body that is too large
})
server.listen(PORT, () => log('listening', { address: server.address() }))

async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  const limit = setTimeout(() => server.closeAllConnections(), 8000)
  await new Promise(resolve => server.close(resolve))
  clearTimeout(limit)
  await Promise.race([pool.end(), sleep(1000)])
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
