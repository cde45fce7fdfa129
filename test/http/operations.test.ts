import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HandlerOptions, HandlerSettings } from '../../src/http/index.ts'
import { findOperation } from '../../src/http/routes.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { expectDocumented } from './documented.ts'
import { createGeneratedStore, longDomain, toDomainId } from './generated-store.ts'
import { servers } from './servers.ts'

/**
 * Tests the opt-in operations over HTTP, with the same cases for every adapter on a real server. Other tests check the
 * results of the operations. These cases check methods, paths, and everything else that exists only in HTTP.
 */

const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
const scopes = ['domains:create', 'domains:delete', 'domains:read']
const prefix = '/api'
const PATH = `${prefix}/v1/domains`

interface Init extends RequestInit {
  /** Whether the response must be complete. Default `true`. */
  readonly isWhole?: boolean
}

interface Context {
  readonly origin: string
  readonly onError: ReturnType<typeof vi.fn>
  /** The key of team 1, with which every call is sent. */
  readonly key: string
  get(path: string, init?: Init): Promise<Response>
  post(path: string, body: unknown): Promise<Response>
}

for (const [name, start, notOffered] of servers) {
  describe(name, () => {
    async function serve(options: Partial<HandlerSettings> = {}): Promise<Context> {
      const { keys, issue } = createKeys()
      const offered = 'operations' in options ? (options.operations ?? (['create'] as const)) : operations
      const key = await issue('team', '1', { scopes })
      const onError = vi.fn()
      const settings = { store: createStore(), keys, onError, operations: offered, ...options }
      const { origin, close } = await start({ ...(settings as HandlerOptions), prefix })
      onTestFinished(close)
      async function call(path: string, { isWhole = true, ...init }: Init = {}) {
        const response = await fetch(origin + path, {
          ...init,
          headers: { Authorization: `Bearer ${key}`, ...(init.body && { 'Content-Type': 'application/json' }) },
        })
        const operation = findOperation(offered, PATH, init.method ?? 'GET', path.replace(/\/?(?:\?.*)?$/, ''))
        if (operation && isWhole) await expectDocumented(response, operation)
        return response
      }
      const post: Context['post'] = (path, body) => call(path, { method: 'POST', body: JSON.stringify(body) })
      return { origin, onError, key, get: call, post }
    }

    const domains = ['www.example.com', '*.example.org', 'localhost']

    test('offers each operation at its method and path, with or without a trailing slash and a query', async () => {
      const { get, post, onError } = await serve()
      for (const [slash, query] of [
        ['', ''],
        ['/', '?x=%zz'],
      ]) {
        const call = async (answer: Promise<Response>) => {
          const response = await answer
          expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
          return (await response.json()).data
        }
        const body = { domains }
        expect((await call(post(`${PATH}/preview${slash}${query}`, body))).totals.created).toBe(2)
        expect((await call(post(`${PATH}${slash}${query}`, body))).totals.created).toBe(2)
        const listed = await call(get(`${PATH}${slash}${query || '?order=newest&limit=1'}`))
        expect(listed.domains[0]?.domain).toBe(query ? domains[0] : domains[1])
        const exported = await get(`${PATH}/export${slash}${query}`)
        expect((await exported.text()).split('\r\n')).toHaveLength(4)
        const deleted = { deleted: 2, missing: 0, invalid: 1 }
        expect((await call(post(`${PATH}/delete${slash}${query}`, body))).totals).toEqual(deleted)
      }
      expect(onError).not.toHaveBeenCalled()
    })

    test('offers only "create" by default, and a call of any other operation registers nothing', async () => {
      const store = createStore()
      const { get, post } = await serve({ store, operations: undefined })
      const answers = [
        await get(PATH),
        await get(`${PATH}/export`),
        await post(`${PATH}/preview`, { domains }),
        await post(`${PATH}/delete`, { domains }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([notOffered, 404, 404, 404])
      for (const answer of answers) {
        const text = await answer.text()
        if (notOffered === 404) expect(text).toBe('not ours')
        else expect(JSON.parse(text).error).toBe(answer.status === 404 ? 'not_found' : 'method_not_allowed')
      }
      expect(await store.count()).toBe(0)
      expect((await post(PATH, { domains })).status).toBe(200)
    })

    test('performs no operation for an undocumented method, or an undocumented path below /v1/domains', async () => {
      const { get, post } = await serve()
      const statuses = async (...answers: Promise<Response>[]) => {
        for (const { status } of await Promise.all(answers)) expect(status).toBe(notOffered)
      }
      await statuses(get(`${PATH}/preview`), get(`${PATH}/delete`), post(`${PATH}/export`, { domains }))
      // HEAD performs no operation, even at the paths at which GET does.
      for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE'])
        await statuses(get(PATH, { method }), get(`${PATH}/export`, { method }))
      if (notOffered === 404) await statuses(post(`${PATH}/preview/x`, { domains }), get(`${PATH}/Export`))
    })

    test('returns a 400 that names the query parameter if its value is invalid or is sent twice', async () => {
      const { get, onError } = await serve()
      for (const [query, message] of [
        ['?limit=0', /^limit must be/],
        ['?limit=5&limit=5', /^limit must be sent once/],
        ['?domain=example.com?x', /^domain must be a hostname/],
        ['?domain=%00', /^domain must be a hostname/],
        ['/export?format=xml', /^format must be "csv" or "ndjson"/],
        ['/export?format=csv&format=csv', /^format must be sent once/],
        ['/export?after=1', /^after must be/],
      ] as const) {
        const response = await get(PATH + query)
        expect([query, response.status, await response.json()]).toEqual([
          ...[query, 400],
          { error: 'invalid_request', message: expect.stringMatching(message) },
        ])
      }
      expect(onError).not.toHaveBeenCalled()
    })

    describe('an export', () => {
      const { store } = createGeneratedStore(2500)

      test('is CSV with a header line and CRLF (RFC 4180), or NDJSON with one object on each line', async () => {
        const { get } = await serve({ store, operations: ['export'] })
        const csv = await get(`${PATH}/export`)
        expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present')
        expect(csv.headers.get('Content-Disposition')).toBe('attachment; filename="domains.csv"')
        const lines = (await csv.text()).split('\r\n')
        expect(lines).toHaveLength(2502)
        expect(lines.slice(0, 2)).toEqual([
          'domain,domainId,createdAt',
          `n0.example.com,${toDomainId(0)},2026-01-02T03:04:05.678Z`,
        ])
        expect(lines.at(-1)).toBe('')
        const ndjson = await get(`${PATH}/export?format=ndjson`)
        expect(ndjson.headers.get('Content-Type')).toBe('application/x-ndjson; charset=utf-8')
        expect(ndjson.headers.get('Content-Disposition')).toBe('attachment; filename="domains.ndjson"')
        expect(ndjson.headers.get('Cache-Control')).toBe('no-store')
        const values = (await ndjson.text()).trimEnd().split('\n')
        expect(values).toHaveLength(2500)
        expect(JSON.parse(values[2499] ?? '')).toEqual({
          ...{ domain: 'n2499.example.com', domainId: toDomainId(2499), createdAt: '2026-01-02T03:04:05.678Z' },
        })
      })

      test('resumes after a given registration, and lists nothing after the last registration', async () => {
        const { get } = await serve({ store, operations: ['export'] })
        const readAfter = async (number: number, format: string) =>
          (await get(`${PATH}/export?format=${format}&after=${toDomainId(number)}`)).text()
        expect(await readAfter(2498, 'ndjson')).toMatch(/^{"domain":"n2499\.example\.com",.*}\n$/)
        expect(await readAfter(2499, 'ndjson')).toBe('')
        expect(await readAfter(2499, 'csv')).toBe('domain,domainId,createdAt\r\n')
      })

      /** Requests an export, and reads only as much as the test asks for. */
      async function open({ origin, key }: Context) {
        const { hostname, port } = new URL(origin)
        const socket = connect(Number(port), hostname)
        await once(socket, 'connect')
        socket.write(`GET ${PATH}/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
        await once(socket, 'readable')
        return socket
      }

      async function settled(seen: { pages: number }): Promise<number> {
        for (let before = -1; before !== seen.pages; await sleep(100)) before = seen.pages
        return seen.pages
      }

      test('stops reading from the store while the client reads nothing, and after it disconnects', async () => {
        const { store: endless, seen } = createGeneratedStore(Number.POSITIVE_INFINITY, longDomain)
        const context = await serve({ store: endless, operations: ['export'] })
        const socket = await open(context)
        const stalled = await settled(seen)
        // The server reads no more pages than the buffers of both sockets can hold.
        expect(stalled).toBeLessThan(300)
        while (seen.pages === stalled) if (socket.read() === null) await once(socket, 'readable')
        const readOn = await settled(seen)
        socket.destroy()
        await sleep(50)
        const left = await settled(seen)
        expect(left).toBeLessThanOrEqual(readOn + 2)
        expect(context.onError).not.toHaveBeenCalled()
      })

      test('is cut off if the client does not read a page within the time limit', async () => {
        const { store: endless, seen } = createGeneratedStore(Number.POSITIVE_INFINITY, longDomain)
        const context = await serve({ store: endless, operations: ['export'], pageTimeLimit: 100 })
        const socket = await open(context)
        socket.on('error', () => {})
        const closed = once(socket, 'close')
        await settled(seen)
        await sleep(300)
        const stalled = seen.pages
        // If the export had not been cut off, it would now continue without end.
        socket.resume()
        await closed
        expect(seen.pages).toBe(stalled)
        expect(context.onError).not.toHaveBeenCalled()
      })

      const failing = {
        ...store,
        list: (options?: { after?: string | undefined }) =>
          options?.after === toDomainId(999) ? Promise.reject(new Error('disk full')) : store.list?.(options),
      } as typeof store

      test('is cut off if the store fails in the middle, and the failure is reported', async () => {
        for (const format of ['csv', 'ndjson']) {
          const { get, onError } = await serve({ store: failing, operations: ['export'] })
          const response = await get(`${PATH}/export?format=${format}`, { isWhole: false })
          expect(response.status).toBe(200)
          await expect(response.text()).rejects.toThrow(/terminated/)
          expect(onError.mock.calls).toMatchObject([[{ message: 'disk full' }, { step: 'list' }]])
        }
      })

      // A fetch handler has no access to the connection.
      if (!name.startsWith('fetch'))
        test('over HTTP/1.0 resets the connection if the store fails, so it does not look complete', async () => {
          const { origin, key } = await serve({ store: failing, operations: ['export'] })
          const { hostname, port } = new URL(origin)
          // If a read does not fill its buffer, Node may mistake a reset for an end.
          const onread = { buffer: Buffer.alloc(1), callback: () => true }
          const socket = connect({ host: hostname, port: Number(port), onread })
          socket.write(`GET ${PATH}/export HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)
          await expect(once(socket, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' })
          expect(socket.bytesRead).toBeGreaterThan(0)
        })
    })
  })
}
