/**
 * A monitor that follows the registry: it takes the pushes of `createWebhook`, and shows what it watches.
 *
 *     WEBHOOK_SECRET=whsec_$(openssl rand -base64 32) tsx examples/monitor.ts
 */
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyWebhook, type WebhookChange, WebhookVerificationError } from 'domain-registration/webhook'

const { WEBHOOK_SECRET: secret, PORT = '4000' } = process.env
if (!secret) throw new Error('Set WEBHOOK_SECRET to that of createWebhook')

/** By `domainId`. Keep both in a database, and change them in one transaction for each request. */
const watched = new Map<string, string>()
const released = new Set<string>()

/** Changes may come twice and late. IDs are never reused: what was released stays released. */
function apply({ kind, domainId, domain }: WebhookChange): void {
  if (kind === 'released') {
    released.add(domainId)
    watched.delete(domainId)
  } else if (!released.has(domainId)) {
    watched.set(domainId, domain)
  }
}

/** Answers 4xx for what sending again cannot mend, and 5xx, by failing, for anything else. */
async function receive(request: IncomingMessage): Promise<{ status: number; body?: unknown }> {
  if (request.method === 'GET') return { status: 200, body: Object.fromEntries(watched) }
  if (!(Number(request.headers['content-length']) <= 1_000_000)) return { status: 413 }
  try {
    const { data } = await verifyWebhook(request.headers, await text(request), secret as string)
    for (const change of data.changes) apply(change)
    return { status: 204 }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return { status: 401, body: error.message }
  }
}

const server = createServer(async (request, response) => {
  const { status, body } = await receive(request).catch(error => {
    console.error(error)
    return { status: 500, body: 'Send it again later' }
  })
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`curl http://127.0.0.1:${port}/ shows what is watched`)
})
