/**
 * Pushes changes over HTTP with `createWebhook` and `startSynchronizing`. First, 3,000 changes go through a gateway
 * that accepts 6 requests in each time window, and responds to the others with 429. Then 1,000 changes are pushed, of
 * which one is refused.
 *
 * The goal is stated for windows of ten seconds. Here, a window lasts one second to save time: all times of the loop
 * depend on `Retry-After`, so all become shorter in proportion.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createMemoryStore, type MemoryStore, startSynchronizing } from '../src/index.ts'
import { save } from '../src/testing/calls.ts'
import { createWebhook, type WebhookBody } from '../src/webhook/index.ts'
import { newNames, report, team } from './measure.ts'

const WINDOW = 1000
const REQUESTS_IN_A_WINDOW = 6
const BATCH_SIZE = 100

type Answer = (response: ServerResponse, body: WebhookBody) => void
const accept: Answer = response => response.writeHead(204).end()

let answer = accept
let requests = 0
const accepted = new Set<string>()
const server = createServer(async (request, response) => {
  const body: WebhookBody = JSON.parse(await text(request))
  requests += 1
  answer(response, body)
  if (response.statusCode === 204) for (const { domainId } of body.data.changes) accepted.add(domainId)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Creates a store in which the releases of these names are pending. */
async function createPending(domains: readonly string[]): Promise<MemoryStore> {
  const store = createMemoryStore({ teams: [team], synchronize: createWebhook({ url, secret }), onError: () => {} })
  answer = accept
  for (let start = 0; start < domains.length; start += BATCH_SIZE) {
    const part = domains.slice(start, start + BATCH_SIZE)
    await store.synchronize?.(await save(store, team.id, part))
    await store.release(team.id, part)
  }
  requests = 0
  accepted.clear()
  return store
}

async function pushThroughGateway(count: number): Promise<number> {
  const store = await createPending(newNames(count))
  let window = 0
  let taken = 0
  answer = response => {
    const now = Math.floor(Date.now() / WINDOW)
    taken = now === window ? taken + 1 : 1
    window = now
    if (taken <= REQUESTS_IN_A_WINDOW) return accept(response, undefined as never)
    response.writeHead(429, { 'Retry-After': String(WINDOW / 1000) }).end('Too many requests')
  }
  const loop = startSynchronizing(store)
  while ((await store.countPending()) > 0) await new Promise(resolve => setTimeout(resolve, 20))
  await loop.stop()
  if (accepted.size !== count) throw new Error(`${accepted.size} of ${count} changes arrived`)
  return requests / (count / BATCH_SIZE)
}

async function pushOneRefused(count: number): Promise<[once: number, then: number]> {
  const domains = newNames(count)
  const store = await createPending(domains)
  answer = (response, body) => {
    const isRefused = body.data.changes.some(({ domain }) => domain === domains[77])
    if (isRefused) response.writeHead(500).end('Internal Server Error')
    else accept(response, body)
  }
  await store.synchronizePending()
  const once = requests
  if ((await store.countPending()) !== 1) throw new Error('More than the refused change is pending')
  await store.retryPending()
  await store.synchronizePending()
  return [once, requests - once]
}

const gateway = await pushThroughGateway(3000)
const [refusedOnce, refusedThen] = await pushOneRefused(1000)
server.close()
server.closeAllConnections()
report({ gateway, refusedOnce, refusedThen })
