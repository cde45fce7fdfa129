import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { ApiError, authenticate } from '../../src/index.ts'
import { isLong } from '../counts.ts'
import { createKeys, createStore, team1 } from '../fixtures.ts'
import { listen } from '../listen.ts'
import { createGeneratedStore } from './generated-store.ts'
import { describeHostileHttp } from './hostile.ts'
import { exchange, toWire } from './raw-http.ts'
import { startExpress } from './servers.ts'
import { describeHttp } from './suite.ts'

// Both versions use the same adapter, so a short run tests the former one only in paths.test.ts.
const versions = [['Express 5', express] as const, ...(isLong ? [['Express 4', express4] as const] : [])]

for (const [name, framework] of versions) {
  const startAfterJson = startExpress(framework, app => app.use(framework.json({ strict: false, limit: '300kb' })))
  describeHttp(`${name} after express.json()`, startAfterJson, { bodyIsReadBefore: true })
  describeHostileHttp(`${name} after express.json()`, startAfterJson, { bodyIsReadBefore: true })

  describe(`${name}: the application`, () => {
    async function call(app: Express, path: string, init: RequestInit = {}) {
      const { origin, close } = await listen(app)
      onTestFinished(close)
      const response = await fetch(origin + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...init.headers },
        body: '{"domains":["www.example.com"]}',
        ...init,
      })
      return { status: response.status, body: await response.text() }
    }

    async function createRouter(options = {}) {
      const { keys, issue } = createKeys()
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${await issue('team', '1')}` }
      return { headers, router: domainsRouter({ store: createStore(), keys, ...options }) }
    }

    test('accepts keys in X-API-Key, as docs/authentication.md shows', async () => {
      const { keys, issue } = createKeys()
      const router = domainsRouter({
        store: createStore(),
        authenticate: ({ raw }) => authenticate(`Bearer ${raw.headers['x-api-key']}`, keys),
      })
      const json = { 'Content-Type': 'application/json' }
      const send = async (headers: Record<string, string>) =>
        (await call(framework().use(router), '/v1/domains', { headers: { ...json, ...headers } })).status
      expect(await send({ 'X-API-Key': await issue('team', '1') })).toBe(200)
      expect([await send({ 'X-API-Key': 'svc_team_1_unknown' }), await send({})]).toEqual([401, 401])
    })

    test('can mount the router below a path parameter, which authenticate finds in raw.params', async () => {
      const store = createStore()
      const router = domainsRouter({
        store,
        authenticate: ({ raw }) => ({ type: 'team', teamId: String(raw.params.teamId), scopes: ['domains:create'] }),
      })
      const app = framework().use('/teams/:teamId', router)
      expect(await call(app, '/teams/2/v1/domains')).toMatchObject({ status: 200 })
      expect(await call(app, '/teams/77/v1/domains')).toMatchObject({ status: 404 })
      expect([await store.count({ teamId: '2' }), await store.count()]).toEqual([1, 1])
    })

    test('can mount the router below another path, on other routers, behind middleware and body parsers', async () => {
      const { headers, router } = await createRouter()
      const json = framework.json()
      const seen: string[] = []
      const note: RequestHandler = (request, _response, next) => next(void seen.push(request.path))
      for (const app of [
        framework().use('/api', router),
        framework().use(framework.Router().use('/api', router)),
        framework().use('/api', json, note).use('/api', router),
        framework().use('/api', framework.Router().use(json, router)),
      ]) {
        expect((await call(app, '/api/v1/domains/', { headers })).status).toBe(200)
        expect((await call(app, '/v1/domains/', { headers })).status).toBe(404)
        const refused = await call(app, '/api/v1/domains', { headers, body: '{' })
        expect([refused.status, JSON.parse(refused.body)]).toMatchObject([400, { error: 'invalid_request' }])
      }
      expect(seen).toEqual(['/v1/domains/'])
    })

    test.each([
      ['entity.parse.failed', expect.stringContaining('The request body is not valid JSON; ')],
      ['request.aborted', 'The request body was cut short.'],
      ['request.size.invalid', 'The length of the request body differs from its "Content-Length".'],
    ])(
      'can have a body parser, and the caller gets the right status and message if the parser fails with %s',
      async (type, message) => {
        const { headers, router } = await createRouter()
        const app = framework().use((_request, _response, next) => next(Object.assign(new Error('refused'), { type })))
        const refused = await call(app.use(router), '/v1/domains', { headers })
        expect([refused.status, JSON.parse(refused.body)]).toEqual([400, { error: 'invalid_request', message }])
      },
    )

    test('gets the framework’s request in authenticate and onError', async () => {
      const onError = vi.fn()
      const app = framework()
      app.use((request, _response, next) => {
        Object.assign(request, { user: { team: request.headers['x-team'] } })
        next()
      })
      const router = domainsRouter({
        store: { ...createStore(), register: () => Promise.reject(new Error('disk full')) },
        authenticate({ raw }) {
          const { team } = (raw as typeof raw & { user: { team?: string } }).user
          if (!team) throw new ApiError('login_required', `Log in first, ${raw.ip}.`, { status: 403 })
          return { type: 'team', teamId: team, scopes: ['domains:create'] }
        },
        onError: (error, { request, keyContext, step }) => onError(error, request.raw.path, keyContext, step),
      })
      app.use(router)
      const refused = await call(app, '/v1/domains')
      expect([refused.status, JSON.parse(refused.body).error]).toEqual([403, 'login_required'])
      await call(app, '/v1/domains', { headers: { 'Content-Type': 'application/json', 'X-Team': '1' } })
      const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
      expect(onError.mock.calls).toEqual([[new Error('disk full'), '/v1/domains', keyContext, 'register']])
    })

    test('can call setEncoding on the request, and the body is still read correctly, up to the limit', async () => {
      const { headers, router } = await createRouter()
      for (const encoding of ['utf8', 'latin1', 'base64'] as const) {
        const app = framework()
        app.use((request, _response, next) => next(void request.setEncoding(encoding)))
        app.use(router)
        const body = '{"domains":["bücher.de"]}'
        expect((await call(app, '/v1/domains', { headers, body })).body).toContain('"domain":"xn--bcher-kva.de"')
        expect((await call(app, '/v1/domains', { headers, body: 'ü'.repeat(140_000) })).status).toBe(413)
      }
    })

    test('still gets requests whose target is "*" or has no path, if the router is mounted below a path', async () => {
      const { router } = await createRouter()
      const app = framework()
      app.use('/api', router)
      app.use((_request, response) => void response.status(404).send('its own'))
      const { origin, close } = await listen(app)
      onTestFinished(close)
      const fields = [
        ['Host', 'x'],
        ['Connection', 'close'],
      ] as const
      for (const target of ['http:///api', 'http:///api/v1/domains', 'http://', 'http:///', '*']) {
        const [answer] = await exchange(origin, toWire(fields, '', `POST ${target} HTTP/1.1`))
        expect([target, answer?.status]).toEqual([target, target.endsWith('domains') ? 401 : 404])
      }
    })

    test('still gets requests to its own routes, with their bodies', async () => {
      const { router } = await createRouter()
      const app = framework()
      app.use(router)
      app.get('/v1/domains', (_, response) => void response.send('a list of its own'))
      app.post('/other', framework.json(), (request, response) => void response.json(request.body))
      expect(await call(app, '/v1/domains', { method: 'GET', body: null })).toMatchObject({ body: 'a list of its own' })
      expect(await call(app, '/other')).toEqual({ status: 200, body: '{"domains":["www.example.com"]}' })
    })

    test('still handles its own errors in its own error handler', async () => {
      const { headers, router } = await createRouter()
      const handled: string[] = []
      const errorHandler: ErrorRequestHandler = (error, _request, response, _next) => {
        handled.push(error.message)
        response.status(418).send('handled')
      }
      const app = framework()
      app.use((request, _response, next) =>
        next(request.headers['x-fail'] ? new Error('of the application') : undefined),
      )
      app.use(framework.json())
      app.use(router)
      app.use(errorHandler)

      const failing = { ...headers, 'X-Fail': 'yes' }
      expect(await call(app, '/v1/domains', { headers: failing })).toEqual({ status: 418, body: 'handled' })
      expect((await call(app, '/other', { headers, body: '{' })).status).toBe(418)
      expect(handled).toEqual(['of the application', expect.stringContaining('JSON')])

      const ours = await call(app, '/v1/domains', { headers, body: '{' })
      expect(ours.status).toBe(400)
      expect(JSON.parse(ours.body)).toMatchObject({ error: 'invalid_request' })
      expect(handled).toHaveLength(2)
    })

    test('can run a body parser that returns a string or bytes, or skips JSON, before the router', async () => {
      for (const parser of [framework.text({ type: '*/*' }), framework.raw({ type: '*/*' }), framework.raw()]) {
        const { headers, router } = await createRouter()
        expect((await call(framework().use(parser).use(router), '/v1/domains', { headers })).status).toBe(200)
      }
    })

    test('can have a getter "body" that throws for malformed JSON, as on Vercel, and the caller gets 400', async () => {
      const onError = vi.fn()
      const { headers, router } = await createRouter({ onError })
      const app = framework()
      app.use((request, _response, next) => {
        const get = () => {
          throw new Error('Invalid JSON')
        }
        request.resume().on('end', () => next(void Object.defineProperty(request, 'body', { get })))
      })
      const { status, body } = await call(app.use(router), '/v1/domains', { headers, body: '{' })
      expect([status, JSON.parse(body)]).toMatchObject([400, { error: 'invalid_request' }])
      expect(onError).not.toHaveBeenCalled()
    })

    test('causes a 500, reported to onError, if it reads and discards the body before the router', async () => {
      const onError = vi.fn()
      const { headers, router } = await createRouter({ onError })
      const app = framework()
      app.use((request, _, next) => void request.resume().on('end', () => next()))
      const { status, body } = await call(app.use(router), '/v1/domains', { headers })
      expect(status).toBe(500)
      expect(JSON.parse(body)).toMatchObject({ error: 'internal_error' })
      expect(onError.mock.calls).toMatchObject([
        [{ message: expect.stringContaining('already been read') }, { step: 'readBody', keyContext: { teamId: '1' } }],
      ])
    })
  })
}

/** Bodies that `express.json()` rejects, each for another reason. */
const rejectedBodies: Readonly<Record<string, { body: string; headers?: Record<string, string> }>> = {
  'is not JSON': { body: '{' },
  'is not compressed as it says': { body: '{}', headers: { 'Content-Encoding': 'gzip' } },
  'has an unknown compression': { body: '{}', headers: { 'Content-Encoding': 'zstd' } },
  'has an unknown charset': { body: '{}', headers: { 'Content-Type': 'application/json; charset=klingon' } },
  'is too large': { body: ' '.repeat(200_000) },
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('%s: a GET whose body express.json() rejects', (_, framework) => {
  test.each(
    Object.entries(rejectedBodies).flatMap(([reason, init]) =>
      ['/v1/domains', '/v1/domains/export'].map(path => [path, reason, init] as const),
    ),
  )('does not skip the guards in front of %s if the body %s', async (path, _reason, { body, headers }) => {
    const run = vi.fn()
    const app = framework()
    app.use(framework.json())
    app.use((_request, response, _next) => void response.status(403).send('not in the list'))
    app.use(
      domainsRouter({
        store: createStore(),
        operations: ['list', 'export'],
        authenticate: () => ({ type: 'team', teamId: '1', scopes: ['domains:read'] }),
        onResult: run,
      }),
    )
    app.use(((_error, _request, response, _next) => void response.status(418).send('its own')) as ErrorRequestHandler)
    const { origin, close } = await listen(app)
    onTestFinished(close)
    const fields = { Host: 'x', 'Content-Type': 'application/json', ...headers, Connection: 'close' }
    const all = Object.entries({ ...fields, 'Content-Length': String(body.length) })
    const [answer] = await exchange(origin, toWire(all, body, `GET ${path} HTTP/1.1`))
    expect([answer?.status, answer?.body]).toEqual([418, 'its own'])
    expect(run).not.toHaveBeenCalled()
  })
})

test.each([
  ['Express 5', () => express()],
  ['Express 4', () => express4()],
])('traces of %s show the names of our functions', (_, create) => {
  const app = create().use(domainsRouter({ store: createStore(), authenticate: () => team1 })) as unknown as Stack
  const names = ((app._router ?? app.router)?.stack ?? []).map(({ name }) => name)
  expect(names.slice(-2)).toEqual(['domainsRouter', 'domainsRouterError'])
})

/** What instrumentations of Express read: `router` is a getter that throws in Express 4. */
interface Stack {
  readonly router?: { readonly stack: readonly { name: string }[] }
  readonly _router?: { readonly stack: readonly { name: string }[] }
}

test('over HTTP/1.0 on a Unix socket, which cannot be reset, an export is cut off at the time limit', async () => {
  const router = domainsRouter({
    store: createGeneratedStore(Number.POSITIVE_INFINITY).store,
    authenticate: () => ({ type: 'team', teamId: '1', scopes: ['domains:read'] }),
    operations: ['export'],
    pageTimeLimit: 50,
  })
  const folder = await mkdtemp(join(tmpdir(), 'export-'))
  const path = join(folder, 'socket')
  const server = createServer(express().use(router)).listen(path)
  await once(server, 'listening')
  const client = connect(path)
  onTestFinished(async () => {
    client.destroy()
    server.close()
    await rm(folder, { recursive: true })
  })
  client.write('GET /v1/domains/export HTTP/1.0\r\n\r\n')
  const [connection] = (await once(server, 'connection')) as [Socket]
  await once(connection, 'close')
})
