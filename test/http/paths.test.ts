import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { operationNames } from '../../src/http/routes.ts'
import { createStore, team1 } from '../fixtures.ts'
import { servers } from './servers.ts'

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

describe.each(servers)('%s', (name, start) => {
  const resolvesDots = name.startsWith('fetch')
  const all = [...paths, ...dotSegments.map(([path, resolved]) => [path, resolvesDots ? resolved : null] as const)]

  test('responds to each path in the table of this file as expected, and registers only at /v1/domains', async () => {
    const found: [path: string, operation: string | null][] = []
    for (const [path] of all) {
      const store = createStore()
      const scopes = ['domains:create', 'domains:delete', 'domains:read']
      const server = await start({ store, operations: operationNames, authenticate: () => ({ ...team1, scopes }) })
      const outgoing = request(`${server.origin}`, {
        method: 'POST',
        // Sends the path unchanged; `fetch` would resolve it first.
        path: OURS + path,
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
      })
      const answered = new Promise<[number | undefined, string]>((resolve, reject) => {
        outgoing.on('error', reject)
        outgoing.on('response', async response => resolve([response.statusCode, await text(response)]))
      })
      outgoing.end('{"domains":["www.example.com"]}')
      const [status, body] = await answered
      const isSaved = (await store.count()) > 0
      const operation = isSaved ? 'create' : body.includes('"deleted"') ? 'delete' : 'preview'
      found.push([path, status === 404 && !isSaved ? null : status === 200 ? operation : `${status} ${body}`])
      await server.close()
    }
    expect(found).toEqual(all)
  })
})
