/**
 * A monitor that follows the registry: it takes the pushes of `createWebhook`, and shows what it watches. It may be
 * killed at any moment: it answers only for what is on the disk.
 *
 *     WEBHOOK_SECRET=whsec_$(openssl rand -base64 32) tsx examples/monitor.ts
 */
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyWebhook, type WebhookChange, WebhookVerificationError } from 'domain-registration/webhook'

const { WEBHOOK_SECRET: secret, PORT = '4000', JOURNAL = 'changes.ndjson' } = process.env
if (!secret) throw new Error('Set WEBHOOK_SECRET to that of createWebhook')

/** By `domainId`. A monitor with a database keeps both there, and changes them in one transaction for each request. */
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

/** A line for each request. A line that was cut off was never answered for, so that its changes come again. */
const journal = await open(JOURNAL, 'a+')
for (const line of (await journal.readFile('utf8')).split('\n')) for (const change of parse(line)) apply(change)

function parse(line: string): WebhookChange[] {
  try {
    return JSON.parse(line)
  } catch {
    return []
  }
}

async function save(changes: readonly WebhookChange[]): Promise<void> {
  // The line break before it ends a line that was cut off.
  await journal.appendFile(`\n${JSON.stringify(changes)}\n`)
  await journal.datasync()
}

/** Answers 4xx for what sending again cannot fix, and 503, by failing, while it cannot save anything. */
async function receive(request: IncomingMessage): Promise<{ status: number; body?: unknown }> {
  if (request.method === 'GET') return { status: 200, body: Object.fromEntries(watched) }
  if (!(Number(request.headers['content-length']) <= 1_000_000)) return { status: 413 }
  try {
    const { data } = await verifyWebhook(request.headers, await text(request), secret as string)
    await save(data.changes)
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
    return { status: 503, body: 'Send it again later' }
  })
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`curl http://127.0.0.1:${port}/ shows what is watched`)
})
