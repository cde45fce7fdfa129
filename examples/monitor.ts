/**
 * A monitor that receives the pushes of `createWebhook`, and shows the names that it watches. You may kill the monitor
 * at any moment: it acknowledges a push only once the changes are on disk.
 *
 *     WEBHOOK_SECRET=whsec_$(openssl rand -base64 32) tsx examples/monitor.ts
 *
 * In a container, set `HOST=0.0.0.0` and a `JOURNAL` on a volume, such as `/data/changes.ndjson`.
 */
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyWebhook, type WebhookChange, WebhookVerificationError } from 'domain-registration/webhook'

const { WEBHOOK_SECRET: secret, HOST = '127.0.0.1', PORT = '4000', JOURNAL = 'changes.ndjson' } = process.env
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret of createWebhook')

/**
 * `watched` maps each `domainId` to its name. If you use a database, change both collections in one transaction for
 * each request.
 */
const watched = new Map<string, string>()
const released = new Set<string>()

/** Changes may arrive twice or late. IDs are never reused: a released ID stays released. */
function apply({ kind, domainId, domain }: WebhookChange): void {
  if (kind === 'released') {
    released.add(domainId)
    watched.delete(domainId)
  } else if (!released.has(domainId)) {
    watched.set(domainId, domain)
  }
}

/** The file has one line for each request. An incomplete line was never acknowledged, so its changes arrive again. */
const journal = await open(JOURNAL, 'a+')
for (const line of (await journal.readFile('utf8')).split('\n')) for (const change of parse(line)) apply(change)

function parse(line: string): WebhookChange[] {
  try {
    return JSON.parse(line)
  } catch {
    return []
  }
}

/** Returns whether the changes are on disk. */
async function save(changes: readonly WebhookChange[]): Promise<boolean> {
  try {
    // The first line break ends the previous line, in case a crash left it incomplete.
    await journal.appendFile(`\n${JSON.stringify(changes)}\n`)
    await journal.datasync()
    return true
  } catch (error) {
    console.error(error)
    return false
  }
}

/**
 * Responds with 503 only if no change can be saved: the store then waits. Any other failure concerns these changes: the
 * store pushes smaller batches until the failing change is alone.
 */
async function receive(request: IncomingMessage): Promise<{ status: number; body?: unknown }> {
  if (request.method === 'GET') return { status: 200, body: Object.fromEntries(watched) }
  if (!(Number(request.headers['content-length']) <= 1_000_000)) return { status: 413 }
  try {
    const { data } = await verifyWebhook(request.headers, await text(request), secret as string)
    if (!(await save(data.changes))) return { status: 503, body: 'Send it again later' }
    for (const change of data.changes) apply(change)
    return { status: 204 }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return { status: 401, body: error.message }
  }
}

const server = createServer(async (request, response) => {
  const { status, body } = await receive(request).catch(error => {
    // One line, without a stack: anybody can cut off a request.
    console.error(String(error))
    return { status: 500, body: String(error) }
  })
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
})
server.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`curl http://127.0.0.1:${port}/ shows the watched names`)
})
