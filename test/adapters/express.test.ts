import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Express } from 'express'
import express4 from 'express4'
import { describe, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/adapters/express.ts'
import type { HandlerOptions } from '../../src/http/handler.ts'
import { ApiError } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { describeHostileHttp } from './hostile.ts'
import { exchange } from './raw-http.ts'
import { describeHttp, type RunningServer } from './suite.ts'

const versions = [
  ['Express 5', express],
  ['Express 4', express4],
] as const

async function listen(app: Express): Promise<RunningServer> {
  const server = await new Promise<Server>(resolve => {
    const listening = app.listen(0, () => resolve(listening))
  })
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

for (const [name, framework] of versions) {
  /** As a user would, with one thing before it: a body parser of the host's, or nothing. */
  const startWith =
    (before: (app: Express) => void) =>
    (options: HandlerOptions & { path?: string }): Promise<RunningServer> => {
      const app = framework()
      before(app)
      app.use(domainsRouter(options))
      return listen(app)
    }

  describeHttp(
    name,
    startWith(() => {}),
  )
  describeHttp(
    `${name} after express.json()`,
    startWith(app => app.use(framework.json({ strict: false, limit: '200kb' }))),
    { bodyIsReadBefore: true },
  )
  describeHttp(
    `${name} after express.text() and express.raw()`,
    startWith(app => {
      app.use(framework.text({ type: request => request.headers['x-kind'] === 'text' }))
      app.use(framework.raw({ type: 'application/octet-stream' }))
    }),
  )

  describeHostileHttp(
    name,
    startWith(() => {}),
  )
  describeHostileHttp(
    `${name} after express.json()`,
    startWith(app => app.use(framework.json({ strict: false, limit: '300kb' }))),
    { bodyIsReadBefore: true },
  )

  describe(`${name}: the host`, () => {
    async function call(app: Express, path: string, init: RequestInit = {}) {
      const server = await listen(app)
      try {
        const response = await fetch(server.origin + path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...init.headers },
          body: '{"domains":["www.example.com"]}',
          ...init,
        })
        return { status: response.status, body: await response.text() }
      } finally {
        await server.close()
      }
    }

    async function createRouter() {
      const { keys, issue } = createKeys()
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${await issue('team', '1')}` }
      return { headers, router: domainsRouter({ store: createStore(), keys }) }
    }

    test('may mount the router below a path of its own, on a router or on the application', async () => {
      const { headers, router } = await createRouter()
      const nested = framework.Router()
      nested.use('/api', router)
      for (const app of [framework().use('/api', router), framework().use(nested)]) {
        expect((await call(app, '/api/v1/domains/', { headers })).status).toBe(200)
        expect((await call(app, '/v1/domains/', { headers })).status).toBe(404)
      }
    })

    test('may mount it behind other middleware and a body parser, on the application', async () => {
      const { headers, router } = await createRouter()
      const app = framework()
      const seen: string[] = []
      app.use('/api', framework.json(), (request, _response, next) => next(void seen.push(request.path)))
      app.use('/api', router)
      expect((await call(app, '/api/v1/domains', { headers })).status).toBe(200)
      expect(seen).toEqual(['/v1/domains'])
      const refused = await call(app, '/api/v1/domains', { headers, body: '{' })
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([400, { error: 'invalid_request' }])
    })

    test('may mount it on a router with a body parser of its own', async () => {
      const { headers, router } = await createRouter()
      const nested = framework.Router().use(framework.json(), router)
      const app = framework().use('/api', nested)
      expect((await call(app, '/api/v1/domains', { headers })).status).toBe(200)
      const refused = await call(app, '/api/v1/domains', { headers, body: '{' })
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([400, { error: 'invalid_request' }])
    })

    test.each([
      ['entity.parse.failed', expect.stringContaining('The request body is not valid JSON; ')],
      ['request.aborted', 'The request body was cut short.'],
      ['request.size.invalid', 'The request body is not as long as its "Content-Length" says.'],
    ])('has what its body parser calls %s told as what it is', async (type, message) => {
      const { headers, router } = await createRouter()
      const app = framework().use((_request, _response, next) => next(Object.assign(new Error('refused'), { type })))
      const refused = await call(app.use(router), '/v1/domains', { headers })
      expect([refused.status, JSON.parse(refused.body)]).toEqual([400, { error: 'invalid_request', message }])
    })

    test('gets its own request in authenticate and onError', async () => {
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

    test('sees every failure on the console where it sets no onError', async () => {
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      const cause = new Error('disk full')
      const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const
      const failing = [
        { ...createStore(), register: () => Promise.reject(cause) },
        { ...createStore(), findTeam: () => Promise.reject(cause) },
      ]
      for (const store of failing) await call(framework().use(domainsRouter({ store, authenticate })), '/v1/domains')
      expect(log.mock.calls).toEqual([
        ['A call for domains failed, registering names:', cause],
        ['A call for domains failed, looking up the team:', cause],
      ])
      log.mockRestore()
    })

    test('may have called setEncoding on the request', async () => {
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

    test('has a target without a path for itself, also below a path of its own', async () => {
      const { router } = await createRouter()
      const app = framework()
      app.use('/api', router)
      app.use((_request, response) => void response.status(404).send('its own'))
      for (const target of ['http:///api', 'http:///api/v1/domains', 'http://', 'http:///', '*']) {
        const server = await listen(app)
        const [answer] = await exchange(
          server.origin,
          Buffer.from(`POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
        )
        await server.close()
        expect([target, answer?.status]).toEqual([target, target.endsWith('domains') ? 401 : 404])
      }
    })

    test('has its own routes and bodies as before', async () => {
      const { router } = await createRouter()
      const app = framework()
      app.use(router)
      app.get('/v1/domains', (_, response) => void response.send('a list of its own'))
      app.post('/other', framework.json(), (request, response) => void response.json(request.body))
      expect(await call(app, '/v1/domains', { method: 'GET', body: null })).toMatchObject({ body: 'a list of its own' })
      expect(await call(app, '/other')).toEqual({ status: 200, body: '{"domains":["www.example.com"]}' })
    })

    test('has its own error handler for all that is not ours', async () => {
      const { headers, router } = await createRouter()
      const handled: string[] = []
      const errorHandler: ErrorRequestHandler = (error, _request, response, _next) => {
        handled.push(error.message)
        response.status(418).send('handled')
      }
      const app = framework()
      app.use((request, _response, next) => next(request.headers['x-fail'] ? new Error('of the host') : undefined))
      app.use(framework.json())
      app.use(router)
      app.use(errorHandler)

      const failing = { ...headers, 'X-Fail': 'yes' }
      expect(await call(app, '/v1/domains', { headers: failing })).toEqual({ status: 418, body: 'handled' })
      expect((await call(app, '/other', { headers, body: '{' })).status).toBe(418)
      expect(handled).toEqual(['of the host', expect.stringContaining('JSON')])

      const ours = await call(app, '/v1/domains', { headers, body: '{' })
      expect(ours.status).toBe(400)
      expect(JSON.parse(ours.body)).toMatchObject({ error: 'invalid_request' })
      expect(handled).toHaveLength(2)
    })

    test('may have read the body as text or bytes before', async () => {
      for (const parser of [framework.text({ type: '*/*' }), framework.raw({ type: '*/*' })]) {
        const { headers, router } = await createRouter()
        expect((await call(framework().use(parser).use(router), '/v1/domains', { headers })).status).toBe(200)
      }
    })

    test('is told of an error that cannot be sent, and the caller of an internal one', async () => {
      const app = framework()
      const onError = vi.fn()
      const authenticate = () => {
        throw new ApiError('unauthorized', 'Log in.', { headers: { 'WWW-Authenticate': 'Bearer\r\nSet-Cookie: a=b' } })
      }
      app.use(domainsRouter({ store: createStore(), authenticate, onError }))
      const { status, body } = await call(app, '/v1/domains')
      expect([status, JSON.parse(body)]).toMatchObject([500, { error: 'internal_error' }])
      expect(onError.mock.calls).toMatchObject([
        [{ message: expect.stringContaining('cannot be sent') }, { step: 'authenticate' }],
      ])
    })

    test('that read the body and left nothing of it is told so, not the caller', async () => {
      const { keys, issue } = createKeys()
      const onError = vi.fn()
      const app = framework()
      app.use((request, _, next) => void request.resume().on('end', () => next()))
      app.use(domainsRouter({ store: createStore(), keys, onError }))
      const headers = { Authorization: `Bearer ${await issue('team', '1')}` }
      const { status, body } = await call(app, '/v1/domains', {
        headers: { 'Content-Type': 'application/json', ...headers },
      })
      expect(status).toBe(500)
      expect(JSON.parse(body)).toMatchObject({ error: 'internal_error' })
      expect(onError.mock.calls).toMatchObject([
        [{ message: expect.stringContaining('read before') }, { step: 'readBody', keyContext: { teamId: '1' } }],
      ])
    })
  })
}
