import { once } from 'node:events'
import { connect } from 'node:http2'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import swagger from '@fastify/swagger'
import fastify, { type FastifyError, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { domainsPlugin } from '../../src/http/fastify.ts'
import type { HandlerOptions } from '../../src/http/index.ts'
import { operationNames } from '../../src/http/routes.ts'
import { createMemoryWaitingStore } from '../../src/memory/memory-waiting-store.ts'
import { openapi } from '../../src/openapi/index.ts'
import { isLong } from '../counts.ts'
import { createKeys, createStore, team1 } from '../fixtures.ts'
import { createGeneratedStore, toDomainId } from './generated-store.ts'
import { listenOnFastify } from './servers.ts'
import { describeHttp } from './suite.ts'

// Both versions use the same adapter, so a short run tests the former one only in paths.test.ts.
const versions = [
  ['Fastify 5', fastify, { routerOptions: { ignoreTrailingSlash: true } }] as const,
  ...(isLong ? [['Fastify 4', fastify4, { ignoreTrailingSlash: true }] as const] : []),
]

const body = '{"domains":["www.example.com"]}'
const json = { 'Content-Type': 'application/json' }

for (const [name, framework, ignoreTrailingSlash] of versions) {
  const create = (options: FastifyServerOptions = {}) => framework({ forceCloseConnections: true, ...options })

  describeHttp(`${name} in an application with its own settings, parsers, hooks and error handler`, options => {
    const app = create({ ...ignoreTrailingSlash, bodyLimit: 10 })
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, () => {
      throw new Error('The parser of the application')
    })
    app.setErrorHandler((_error, _request, reply) => reply.code(404).send('The error handler of the application'))
    app.addHook('preParsing', async (_request, _reply, stream) => stream)
    app.addHook('preHandler', async () => {})
    app.addHook('onSend', async (_request, _reply, payload) => payload)
    app.register(domainsPlugin, options)
    return listenOnFastify(app)
  })

  describe(`${name}: the application`, () => {
    async function call(app: FastifyInstance, path: string, headers: Record<string, string>, sent = body) {
      const { statusCode: status, payload } = await app.inject({ method: 'POST', url: path, headers, payload: sent })
      return { status, body: payload }
    }

    async function createOptions() {
      const { keys, issue } = createKeys()
      const headers = { ...json, Authorization: `Bearer ${await issue('team', '1')}` }
      return { headers, options: { store: createStore(), keys } satisfies HandlerOptions }
    }

    test('can mount the plugin below a prefix, with and without the option "path"', async () => {
      const { headers, options } = await createOptions()
      const app = create()
      app.register(domainsPlugin, { ...options, prefix: '/api' })
      app.register(domainsPlugin, { ...options, prefix: '/names', path: '/' })
      app.register(domainsPlugin, { ...options, path: '/' })
      app.register(async nested => void nested.register(domainsPlugin, { ...options, path: '/domains/' }), {
        prefix: '/nested',
      })
      expect((await call(app, '/', headers)).status).toBe(200)
      for (const path of ['/api/v1/domains', '/names', '/nested/domains']) {
        expect((await call(app, path, headers)).status, path).toBe(200)
        expect((await call(app, `${path}/`, headers)).status, `${path}/`).toBe(200)
      }
      for (const path of ['/v1/domains', '/;x', '/names/;x'])
        expect((await call(app, path, headers)).status, path).toBe(404)
    })

    test('still gets requests to its own routes, through its own parsers', async () => {
      const { headers, options } = await createOptions()
      const app = create()
      app.addContentTypeParser(
        'text/own',
        { parseAs: 'string' },
        async (_request: unknown, sent: string) => sent.length,
      )
      app.register(domainsPlugin, options)
      app.get('/v1/domains', async () => 'a list of its own')
      app.post('/other', async request => request.body)
      expect((await app.inject('/v1/domains')).payload).toBe('a list of its own')
      expect(await call(app, '/other', json)).toEqual({ status: 200, body })
      expect(await call(app, '/other', { 'Content-Type': 'text/own' })).toEqual({ status: 200, body: '31' })
      expect((await call(app, '/other', { 'Content-Type': 'text/unknown' })).status).toBe(415)
      expect((await call(app, '/v1/domains', headers)).status).toBe(200)
    })

    test('still handles its own errors in its own error handler', async () => {
      const { headers, options } = await createOptions()
      const handled: string[] = []
      const app = create()
      app.setErrorHandler((error: Error, _request, reply) => {
        handled.push(error.message)
        return reply.code(418).send('handled')
      })
      app.addHook('onRequest', async request => {
        if (request.headers['x-fail']) throw new Error('of the application')
      })
      app.post('/other', async () => 'other')
      app.register(domainsPlugin, options)

      expect(await call(app, '/v1/domains', { ...headers, 'X-Fail': 'yes' })).toEqual({ status: 418, body: 'handled' })
      expect((await call(app, '/other', json, '{')).status).toBe(418)
      expect(handled).toEqual(['of the application', expect.stringContaining('JSON')])

      for (const [changes, sent, status] of [
        [{}, '{', 400],
        [{ 'Content-Type': 'no media type' }, body, 415],
        [{ 'Content-Type': 'no media type', Authorization: 'Bearer unknown' }, body, 401],
      ] as const) {
        const ours = await call(app, '/v1/domains', { ...headers, ...changes }, sent)
        expect(ours.status).toBe(status)
        expect(JSON.parse(ours.body)).toEqual({ error: expect.any(String), message: expect.any(String) })
      }
      expect(handled).toHaveLength(2)
    })

    test('can reject a body in a hook with a Fastify error, and the caller gets a documented error', async () => {
      const { headers, options } = await createOptions()
      for (const [code, status, message] of [
        ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400, /differs from its "Content-Length"/],
        ['FST_ERR_CTP_BODY_TOO_LARGE', 413, /is larger than allowed/],
      ] as const) {
        const app = create()
        app.addHook('preParsing', async () => {
          throw new (framework as unknown as typeof fastify).errorCodes[code]()
        })
        app.register(domainsPlugin, options)
        const answer = await call(app, '/v1/domains', headers)
        expect(answer.status).toBe(status)
        expect(Object.keys(JSON.parse(answer.body))).toEqual(['error', 'message'])
        expect(JSON.parse(answer.body).message).toMatch(message)
      }
    })

    test('has its hooks called for the package’s responses', async () => {
      const { headers, options } = await createOptions()
      const called: string[] = []
      const app = create()
      app.addHook('onRequest', async () => void called.push('onRequest'))
      app.addHook('onSend', async (_request, reply, payload) => {
        called.push('onSend')
        reply.header('X-Hook', 'was here')
        return payload
      })
      app.addHook('onResponse', async () => void called.push('onResponse'))
      app.register(domainsPlugin, options)
      const response = await app.inject({ method: 'POST', url: '/v1/domains', headers, payload: body })
      expect(response.headers['x-hook']).toBe('was here')
      expect(called).toEqual(['onRequest', 'onSend', 'onResponse'])
    })

    test('gets the framework’s request in authenticate and onError', async () => {
      const onError = vi.fn()
      const app = create()
      app.decorateRequest('team', '')
      app.addHook('onRequest', async request => void Object.assign(request, { team: request.headers['x-team'] }))
      app.register(domainsPlugin, {
        store: { ...createStore(), register: () => Promise.reject(new Error('disk full')) },
        authenticate: ({ raw }) => ({
          type: 'team',
          teamId: (raw as typeof raw & { team: string }).team,
          scopes: ['domains:create'],
        }),
        onError: (error, { request, step }) => onError(error, request.raw.url, step),
      })
      expect((await call(app, '/v1/domains', { ...json, 'X-Team': '1' })).status).toBe(500)
      expect(onError.mock.calls).toEqual([[new Error('disk full'), '/v1/domains', 'register']])
    })

    test('finds every failure in its own log if it sets no onError', async () => {
      const { headers, options } = await createOptions()
      const lines: { level: number }[] = []
      const app = create({ logger: { stream: { write: line => void lines.push(JSON.parse(line)) } } })
      const store = { ...options.store, register: () => Promise.reject(new Error('disk full')) }
      app.register(domainsPlugin, { ...options, store })
      const sent = JSON.stringify({ domains: ['a.com', 'b.com'] })
      expect((await call(app, '/v1/domains', headers, sent)).status).toBe(500)
      expect(lines.filter(({ level }) => level >= 50)).toMatchObject([
        {
          msg: 'registering names failed',
          package: 'domain-registration',
          operation: 'create',
          teamId: '1',
          count: 2,
          error: 'Error: disk full',
          stack: expect.stringContaining('    at '),
          reqId: 'req-1',
        },
      ])
    })

    test('can match calls of onResult and onError by the ID of the request', async () => {
      const { headers, options } = await createOptions()
      const told: unknown[] = []
      const app = create({ genReqId: () => 'r-7' })
      app.register(domainsPlugin, {
        ...options,
        store: createStore({ synchronize: () => Promise.reject(new Error('away')) }),
        onResult: ({ status, requestId }) => void told.push([status, requestId]),
        onError: (_, { requestId, operation, teamId, count }) => void told.push([requestId, operation, teamId, count]),
      })
      await call(app, '/v1/domains', headers)
      expect(told).toEqual([
        [503, 'r-7'],
        ['r-7', 'create', '1', 1],
      ])
    })

    test('finds each failure in its log, even a frozen error, or on the console if there is no logger', async () => {
      const { headers, options } = await createOptions()
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      const frozen = Object.freeze(new Error('frozen'))
      const lines: string[] = []
      for (const [logger, cause] of [
        [false, new Error('disk full')],
        [{ stream: { write: (line: string) => void lines.push(line) } }, frozen],
        [{ level: 'silent' }, new Error('not to be seen')],
      ] as const) {
        const app = create({ logger })
        app.register(domainsPlugin, { ...options, store: { ...options.store, register: () => Promise.reject(cause) } })
        await call(app, '/v1/domains', headers)
      }
      expect(log.mock.calls).toEqual([
        [
          expect.stringMatching(
            / domain-registration: registering names failed \(create, .*: Error: disk full; see .*runbook\.md\n/,
          ),
        ],
      ])
      expect(lines.filter(line => line.includes('Error: frozen'))).toHaveLength(1)
      log.mockRestore()
    })

    test('finds request.body undefined in its hooks, so copying it works, and logging it reveals no body', async () => {
      const { headers, options } = await createOptions()
      const bodies: unknown[] = []
      const app = create()
      for (const hook of ['preValidation', 'preHandler', 'onSend', 'onResponse'] as const)
        app.addHook(hook, async (request: { body: unknown }) => void bodies.push(structuredClone(request.body)))
      app.addHook('preParsing', async (_request, _reply, stream) => stream.pipe(new PassThrough()))
      app.register(domainsPlugin, options)
      expect((await call(app, '/v1/domains', headers)).status).toBe(200)
      expect(bodies).toEqual([undefined, undefined, undefined, undefined])
    })

    test('causes a 500, reported to onError, if it reads and discards the body before the plugin', async () => {
      const { headers, options } = await createOptions()
      const onError = vi.fn()
      const app = create()
      app.addHook('onRequest', async request => void (await text(request.raw)))
      app.register(domainsPlugin, { ...options, onError })
      const { origin, close } = await listenOnFastify(app)
      onTestFinished(close)
      const response = await fetch(`${origin}/v1/domains`, { method: 'POST', headers, body })
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ error: 'internal_error' })
      expect(onError.mock.calls).toMatchObject([
        [{ message: expect.stringContaining('already been read') }, { step: 'readBody' }],
      ])
    })

    async function connectHttp2(app: object) {
      const { origin, close } = await listenOnFastify(app as FastifyInstance)
      const session = connect(origin)
      onTestFinished(async () => {
        session.destroy()
        await close()
      })
      return session
    }

    // A compressed export is tested in test/hosts/exports.test.js.
    test('resets the HTTP/2 stream of an export if the store fails midway', async () => {
      const { store } = createGeneratedStore(2500)
      const list = (page?: { after?: string | undefined }) =>
        page?.after === toDomainId(1999) ? Promise.reject(new Error('disk full')) : store.list?.(page)
      const app = framework({ http2: true })
      app.register(domainsPlugin, {
        store: { ...store, list } as typeof store,
        authenticate: () => ({ ...team1, scopes: ['domains:read'] }),
        operations: ['export'],
        onError() {},
      })
      const session = await connectHttp2(app)
      const stream = session.request({ ':path': '/v1/domains/export' }).resume()
      const ended = vi.fn()
      stream.on('error', () => {}).on('end', ended)
      await once(stream, 'close').catch(() => {})
      expect([stream.rstCode, ended.mock.calls.length]).toEqual([2, 0])
    })

    test('resets the HTTP/2 stream of an export if the client does not read a page within the time limit', async () => {
      const app = framework({ http2: true })
      app.register(domainsPlugin, {
        store: createGeneratedStore(Number.POSITIVE_INFINITY).store,
        authenticate: () => ({ ...team1, scopes: ['domains:read'] }),
        operations: ['export'],
        pageTimeLimit: 100,
      })
      const session = await connectHttp2(app)
      const stream = session.request({ ':path': '/v1/domains/export' }).on('error', () => {})
      await new Promise(resolve => stream.on('close', resolve))
      expect(stream.rstCode).toBe(2)
    })

    test('can register names over HTTP/2', async () => {
      const { headers, options } = await createOptions()
      const app = framework({ http2: true })
      app.register(domainsPlugin, options)
      const session = await connectHttp2(app)
      for (const [sent, status] of [
        [body, 200],
        ['x'.repeat(300_000), 413],
      ] as const) {
        const stream = session.request({ ':method': 'POST', ':path': '/v1/domains', ...headers })
        const answered = once(stream, 'response')
        stream.on('error', () => {}).end(sent)
        const [fields] = await answered
        expect(fields[':status']).toBe(status)
        expect(JSON.parse(await text(stream))).toHaveProperty(status === 200 ? 'data' : 'error')
      }
    })
  })
}

test.each(['/v1/domains', '/'])(
  'the document of @fastify/swagger is that of openapi() and the application’s own routes, even at the path %s',
  async path => {
    const document = openapi({ path, operations: operationNames, rateLimited: false })
    const app = fastify()
    await app.register(swagger, { openapi: structuredClone<object>(document) })
    app.get('/names', { schema: { tags: ['own'], summary: 'A route of its own' } }, async () => [])
    const waiting = createMemoryWaitingStore()
    const { keys } = createKeys()
    app.register(domainsPlugin, { store: createStore(), waiting, keys, path, operations: operationNames })
    await app.ready()
    const { paths, ...others } = app.swagger() as unknown as typeof document
    const { '/names': own, ...ours } = paths as Record<string, unknown>
    expect({ ...others, paths: ours }).toEqual(document)
    expect(own).toMatchObject({ get: { summary: 'A route of its own' } })
  },
)

test('the default log shows the ID of a request, which its caller chose, as one short word', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const app = fastify({ requestIdHeader: 'x-request-id' })
  const store = { ...createStore(), register: () => Promise.reject(new Error('disk full')) }
  app.register(domainsPlugin, { store, authenticate: () => team1 })
  const id = `r1, team 9, 1 name): nothing happened${'x'.repeat(12_000)}`
  await app.inject({ method: 'POST', url: '/v1/domains', headers: { ...json, 'X-Request-Id': id }, payload: body })
  const [line = ''] = String(log.mock.calls[0]?.[0]).split('\n')
  expect(line).toMatch(/ \(create, request r1\?team\?9\S{1,100}, team 1, 1 name\): Error: disk full/)
})

test.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4 as unknown as typeof fastify],
])('%s: a GET that a hook rejects with an error of a body is not answered with a list', async (_, framework) => {
  const app = framework()
  app.setErrorHandler((error: FastifyError, _request, reply) => reply.code(418).send(error.code))
  const { FST_ERR_CTP_BODY_TOO_LARGE, FST_ERR_CTP_INVALID_MEDIA_TYPE } = framework.errorCodes
  app.addHook('onRequest', async request => {
    throw request.url.endsWith('export') ? FST_ERR_CTP_BODY_TOO_LARGE() : FST_ERR_CTP_INVALID_MEDIA_TYPE('text/plain')
  })
  const options = { store: createStore(), authenticate: () => ({ ...team1, scopes: ['domains:read'] }) }
  app.register(domainsPlugin, { ...options, operations: ['list', 'export'] })
  const [list, whole] = [await app.inject('/v1/domains'), await app.inject('/v1/domains/export')]
  expect([list.statusCode, list.payload]).toEqual([418, 'FST_ERR_CTP_INVALID_MEDIA_TYPE'])
  expect([whole.statusCode, whole.payload]).toEqual([418, 'FST_ERR_CTP_BODY_TOO_LARGE'])
})
