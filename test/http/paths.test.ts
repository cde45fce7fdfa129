import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { operationNames } from '../../src/http/routes.ts'
import { createMemoryWaitingStore } from '../../src/memory/memory-waiting-store.ts'
import { createStore, team1 } from '../fixtures.ts'
import { allServers } from './servers.ts'

const OURS = '/v1/domains'

/** The operation of a POST to each path. `null`: the path is not ours, and gets 404. */
const paths: readonly (readonly [path: string, operation: 'create' | 'preview' | 'delete' | null])[] = [
  ['', 'create'],
  ['/', 'create'],
  ['?', 'create'],
  ['?preview', 'create'],
  ['/?a=/preview', 'create'],
  ['?/delete', 'create'],
  ['/preview', 'preview'],
  ['/preview/', 'preview'],
  ['/preview?x=1', 'preview'],
  ['/preview/?', 'preview'],
  ['/delete', 'delete'],
  ['/delete/', 'delete'],
  ['//', null],
  ['///', null],
  ['/preview//', null],
  ['//preview', null],
  ['/delete//', null],
  ['/remove', null],
  ['/Delete', null],
  ['/PREVIEW', null],
  ['/%70review', null],
  ['/preview%2F', null],
  ['/preview%20', null],
  ['%2Fpreview', null],
  ['%2fdelete', null],
  ['/%64elete', null],
  ['%20', null],
  ['%00', null],
  ['/www.example.com', null],
  ['/1', null],
  ['/previews', null],
  ['/xpreview', null],
  ['/preview/preview', null],
  ['/preview/delete', null],
  ['/delete/1', null],
  ['/delete.json', null],
  ['/preview;x=1', null],
  [';x=1', null],
  ['s', null],
  ['/*', null],
  ['/v1', null],
  ['/:id', null],
]

/** Paths with segments that a URL parser resolves, as `Request` does. */
const dotSegments: typeof paths = [
  ['/preview/..', 'create'],
  ['/preview/%2e%2E', 'create'],
  ['/./preview', 'preview'],
]

test('the table of paths has at least forty rows', () => expect(paths.length).toBeGreaterThanOrEqual(40))

/** Sends the path unchanged; `fetch` would resolve it first. */
async function post(origin: string, path: string): Promise<IncomingMessage> {
  const outgoing = request(origin, { method: 'POST', path, headers: { 'Content-Type': 'application/json' } })
  outgoing.end('{"domains":["www.example.com"]}')
  const [response] = await once(outgoing, 'response')
  return response
}

describe.each(allServers)('%s', (name, start) => {
  const resolvesDots = name.startsWith('fetch')
  const all = [...paths, ...dotSegments.map(([path, resolved]) => [path, resolvesDots ? resolved : null] as const)]

  test('responds to each path in the table of this file as expected, and registers only at /v1/domains', async () => {
    const store = createStore()
    const scopes = ['domains:create', 'domains:delete', 'domains:read']
    const server = await start({
      store,
      waiting: createMemoryWaitingStore(),
      operations: operationNames,
      authenticate: () => ({ ...team1, scopes }),
    })
    onTestFinished(server.close)
    const found: [path: string, operation: string | null][] = []
    for (const [path] of all) {
      const response = await post(server.origin, OURS + path)
      const [status, body] = [response.statusCode, await text(response)]
      const isSaved = (await store.release('1', ['www.example.com'])).length > 0
      const operation = isSaved ? 'create' : body.includes('"deleted"') ? 'delete' : 'preview'
      found.push([path, status === 404 && !isSaved ? null : status === 200 ? operation : `${status} ${body}`])
    }
    expect(found).toEqual(all)
  })

  // The router of Fastify 4 also matches a path with text after a semicolon.
  test('at the path "/", does not respond to "/;x"', async () => {
    const server = await start({ store: createStore(), path: '/', authenticate: () => team1 })
    onTestFinished(server.close)
    expect((await post(server.origin, '/;x')).statusCode).toBe(404)
  })
})
