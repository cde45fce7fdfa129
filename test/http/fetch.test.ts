import type { Server } from 'node:http'
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from 'node:http2'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import { openapi } from '../../src/openapi/index.ts'
import { createKeys, createStore, team1 } from '../fixtures.ts'
import { whenListening } from '../listen.ts'
import { expectDocumented } from './documented.ts'
import { createGeneratedStore, toDomainId } from './generated-store.ts'
import { exchange, toWire } from './raw-http.ts'

test('an export under Hono with compress() does not look complete if the store fails midway', async () => {
  const { store } = createGeneratedStore(2500)
  const list = (page?: { after?: string | undefined }) =>
    page?.after === toDomainId(1999) ? Promise.reject(new Error('disk full')) : store.list?.(page)
  const handle = domainsHandler({
    store: { ...store, list } as typeof store,
    authenticate: () => ({ ...team1, scopes: ['domains:read'] }),
    operations: ['export'],
    onError() {},
  })
  const app = new Hono().use(compress()).get('/v1/domains/export', context => handle(context.req.raw))
  const { origin, close } = await whenListening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  onTestFinished(close)
  const response = await fetch(`${origin}/v1/domains/export`)
  expect(response.headers.get('Content-Encoding')).toBe('gzip')
  await expect(response.text()).rejects.toThrow(/terminated/)
})

describe('under Hono on Node', () => {
  async function start(createServer?: typeof createHttp2Server) {
    const { keys, issue } = createKeys()
    const onError = vi.fn()
    const handle = domainsHandler({ store: createStore(), keys, onError })
    const app = new Hono().post('/v1/domains', context => handle(context.req.raw))
    const options = { fetch: app.fetch, port: 0, hostname: '127.0.0.1', ...(createServer && { createServer }) }
    const server = serve(options as Parameters<typeof serve>[0])
    const { origin, close } = await whenListening(server as Server)
    onTestFinished(close)
    return { origin, onError, authorization: `Bearer ${await issue('team', '1')}` }
  }

  /** Makes a call whose body is sent without its length. Returns the status, or the code of an error. */
  function callOverHttp2(session: ClientHttp2Session, fields: object, body: Uint8Array | string): Promise<unknown> {
    const headers = { ':method': 'POST', ':path': '/v1/domains', 'content-type': 'application/json', ...fields }
    const stream = session.request(headers)
    return new Promise(resolve => {
      let status: unknown
      stream.on('response', response => {
        status = response[':status']
      })
      stream.on('error', ({ message }) => resolve(message))
      stream.on('close', () => resolve(status))
      stream.resume().end(body)
    })
  }

  test.each([
    ['without a key', 401, 400_000],
    ['with a body that is too large', 413, 900_000],
  ])('sixty calls %s and of unknown length end no connection over HTTP/2', async (_, status, bytes) => {
    const { origin, authorization } = await start(createHttp2Server)
    const session = connect(origin)
    onTestFinished(() => session.destroy())
    const answers: unknown[] = []
    for (let turn = 0; turn < 60; turn += 1) {
      const fields = status === 401 ? {} : { authorization }
      answers.push(await callOverHttp2(session, fields, Buffer.alloc(bytes, ' ')))
      answers.push(await callOverHttp2(session, { authorization }, '{"domains":["www.example.com"]}'))
    }
    const lost = answers.filter((answer, index) => answer !== (index % 2 === 0 ? status : 200))
    expect([answers.length, lost]).toEqual([120, []])
  })

  test.each(['xn--a', 'a.xn--zzzzzz', '1.2.3.4.5', '256.1.1.1'])(
    'a call with "Host: %s", which no URL may have, gets its response',
    async host => {
      const { origin, onError, authorization } = await start()
      const log = vi.spyOn(console, 'error')
      const body = '{"domains":["www.example.com"]}'
      const call = async (fields: Record<string, string>, sent = body) => {
        const all = { Host: host, 'Content-Type': 'application/json', Connection: 'close', ...fields }
        const [answer] = await exchange(origin, toWire(Object.entries(all), sent))
        return [answer?.status, JSON.parse(answer?.body ?? '').error]
      }
      const known = { 'Content-Length': String(body.length) }
      const chunked = { 'Transfer-Encoding': 'chunked' }
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      expect(await call(known)).toEqual([401, 'unauthorized'])
      expect(await call(chunked, chunks)).toEqual([401, 'unauthorized'])
      expect(await call({ ...known, Authorization: authorization })).toEqual([200, undefined])
      // Hono cannot hand over such a body.
      expect(await call({ ...chunked, Authorization: authorization }, chunks)).toEqual([400, 'invalid_request'])
      expect([log.mock.calls, onError.mock.calls]).toEqual([[], []])
    },
  )
})

describe('fetch: a request', () => {
  async function create() {
    const { keys, issue } = createKeys()
    const findKey = vi.spyOn(keys, 'findKey')
    const onError = vi.fn()
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${await issue('team', '1')}` }
    const handle = domainsHandler({ store: createStore(), keys, onError })
    const createRequest = (body: BodyInit, changes: RequestInit = {}) =>
      new Request('https://host.test/any/v1/domains', {
        method: 'POST',
        headers,
        body,
        duplex: 'half',
        ...changes,
      } as never)
    return { handle, createRequest, findKey, onError }
  }

  const json = '{"domains":["www.example.com"]}'

  /** An endless body in chunks; `seen` counts the requested chunks, and records whether the body was cancelled. */
  function createEndlessBody(chunk: Uint8Array) {
    const seen = { chunks: 0, cancelled: false }
    const stream = new ReadableStream(
      {
        pull(controller) {
          seen.chunks += 1
          controller.enqueue(chunk)
        },
        cancel() {
          seen.cancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { seen, stream }
  }

  test('is passed to authenticate and onError together with the framework’s context in its declared type', async () => {
    const onError = vi.fn()
    const handle = domainsHandler<{ locals: { teamId: string } }>({
      store: { ...createStore(), register: () => Promise.reject(new Error('disk full')) },
      authenticate: ({ raw, context }) => ({
        type: 'team',
        teamId: context.locals.teamId,
        scopes: new URL(raw.url).searchParams.getAll('scope'),
      }),
      onError: (error, { request, keyContext }) => onError(error, request.raw.url, request.context, keyContext),
    })
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: json }
    const url = 'https://host.test/v1/domains?scope=domains:create'
    const context = { locals: { teamId: '1' } }
    expect((await handle(new Request(url, init), context)).status).toBe(500)
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
    expect(onError.mock.calls).toEqual([[new Error('disk full'), url, context, keyContext]])
    // @ts-expect-error: the context is missing
    expect((await handle(new Request(url, init))).status).toBe(500)
  })

  test('gets "Connection: close" with a 413 over HTTP/1.1 if its body is endless, but not over HTTP/2', async () => {
    const { handle, createRequest } = await create()
    for (const [host, connection] of [
      ['api.test', 'close'],
      [null, null],
    ] as const) {
      const request = createRequest(createEndlessBody(new Uint8Array(64 * 1024)).stream)
      if (host) request.headers.set('Host', host)
      const response = await handle(request)
      expect([response.status, response.headers.get('Connection')]).toEqual([413, connection])
    }
  })

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('with the method %s gets 405', async method => {
    const { handle, findKey, onError } = await create()
    const response = await handle(new Request('https://host.test/v1/domains', { method }))
    expect(response.status).toBe(405)
    expect(response.headers.get('Allow')).toBe('POST')
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    await expectDocumented(response)
    const { examples } = openapi().paths['/v1/domains'].post.responses[405]?.content['application/json'] ?? {}
    expect(await response.json()).toEqual(examples?.method_not_allowed?.value)
    expect(findKey).not.toHaveBeenCalled()
    expect(onError).not.toHaveBeenCalled()
  })

  // For more paths at the default path, see paths.test.ts.
  test.each<[url: string, status: number, path: string]>([
    ['/api/teams/7/v1/domains?x=/v1/domains/preview', 200, '/v1/domains'],
    ['/v1/domains/#/preview', 200, '/v1/domains'],
    ['/', 404, '/v1/domains'],
    ['/xv1/domains', 404, '/v1/domains'],
    ['/v1/domains', 404, '/names'],
    ['/x/names/', 200, '/names/'],
    ['/names/preview', 404, '/names'],
    ['/', 200, '/'],
    ['/x', 404, '/'],
  ])('to %s gets %i from a handler at %s that offers only "create"', async (url, status, path) => {
    const store = createStore()
    const handle = domainsHandler({ store, ...(path !== '/v1/domains' && { path }), authenticate: () => team1 })
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: json }
    const response = await handle(new Request(new URL(url, 'https://host.test'), init))
    expect([response.status, await store.count()]).toEqual([status, status === 200 ? 1 : 0])
    if (status === 404)
      expect(await response.json()).toEqual({ error: 'not_found', message: 'There is nothing at this path.' })
  })

  test.each([
    ['with a body below the limit gets 200,', json, 200],
    ['with a body above the limit gets 413,', ' '.repeat(300_000) + json, 413],
  ])('%s even if request.body is undefined, as in Firefox', async (_, body, status) => {
    const { handle, createRequest } = await create()
    const request = createRequest(body)
    Object.defineProperty(request, 'body', { value: undefined })
    expect((await handle(request)).status).toBe(status)
  })

  test('without a body gets 400', async () => {
    const { handle, createRequest } = await create()
    const response = await handle(createRequest(null as never))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('is empty') })
  })

  test.each([
    ['with a body of unknown length', {}],
    [
      'with a Content-Length that Transfer-Encoding overrides',
      { 'Content-Length': '20', 'Transfer-Encoding': 'chunked' },
    ],
  ])('%s has its body kept up to its limit, read up to a megabyte more, and then cancelled', async (_, fields) => {
    const { handle, createRequest } = await create()
    const { seen, stream } = createEndlessBody(new Uint8Array(64 * 1024))
    const request = createRequest(stream)
    for (const [name, value] of Object.entries(fields)) request.headers.set(name, value)
    expect((await handle(request)).status).toBe(413)
    expect(seen).toEqual({ chunks: 5 + 17, cancelled: true })
  })

  test('with a body of known length is read in one piece, so Node does not create a body stream', async () => {
    const { handle, createRequest } = await create()
    const request = createRequest(json)
    request.headers.set('Content-Length', String(json.length))
    Object.defineProperty(request, 'body', { get: () => expect.fail('Its chunks were requested') })
    expect((await handle(request)).status).toBe(200)
  })

  test('with a body above the limit gets 413, even if its Content-Length is below the limit', async () => {
    const { handle, createRequest } = await create()
    const request = createRequest(' '.repeat(300_000) + json)
    request.headers.set('Content-Length', '20')
    expect((await handle(request)).status).toBe(413)
  })

  test('without a valid key gets 401, and an endless body is read up to a megabyte, and then cancelled', async () => {
    const { handle, createRequest } = await create()
    const { seen, stream } = createEndlessBody(new Uint8Array(64 * 1024))
    const request = createRequest(stream, { headers: { 'Content-Type': 'application/json' } })
    expect((await handle(request)).status).toBe(401)
    expect(seen).toEqual({ chunks: 17, cancelled: true })
  })

  test('without a valid key gets 401, even if its body never arrives', async () => {
    const { handle, createRequest } = await create()
    const cancel = vi.fn()
    const request = createRequest(new ReadableStream({ pull: () => new Promise(() => {}), cancel }), { headers: {} })
    expect((await handle(request)).status).toBe(401)
    expect(cancel).toHaveBeenCalledOnce()
  })

  test.each(['with', 'without'])(
    'with a body that breaks off gets 400, and onError is not called (%s a Content-Length)',
    async which => {
      const { handle, createRequest, onError } = await create()
      const stream = new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode('{"domains":[')),
        pull: controller => controller.error(new Error('connection reset')),
      })
      const request = createRequest(stream)
      if (which === 'with') request.headers.set('Content-Length', '100')
      const response = await handle(request)
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ error: 'invalid_request', message: 'The request body was cut short.' })
      expect(onError).not.toHaveBeenCalled()
    },
  )

  test('gets 413 if a limit of the framework, such as SvelteKit’s, cuts off the body', async () => {
    const { handle, createRequest, onError } = await create()
    const cause = Object.assign(new Error('Payload Too Large'), { status: 413 })
    const request = createRequest(new ReadableStream({ pull: controller => controller.error(cause) }))
    const response = await handle(request)
    expect([response.status, await response.json()]).toMatchObject([413, { error: 'payload_too_large' }])
    expect(onError).not.toHaveBeenCalled()
  })

  test('gets 500, and onError is called, if the application has read its body or is reading it', async () => {
    const reads = [
      (request: Request) => request.text(),
      (request: Request) => request.body?.getReader(),
      (request: Request) => request.body?.getReader().read(),
    ]
    for (const [index, read] of [...reads, ...reads].entries()) {
      const { handle, createRequest, onError } = await create()
      const request = createRequest(json)
      if (index < reads.length) request.headers.set('Content-Length', String(json.length))
      await read(request)
      const response = await handle(request)
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ error: 'internal_error' })
      expect(onError.mock.calls).toMatchObject([
        [{ message: expect.stringContaining('already been read') }, { step: 'readBody' }],
      ])
    }
  })
})
