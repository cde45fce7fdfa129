/** The first function of domainsRouter, in NestJS and frameworks that resemble Express. Run by `npm run test:hosts`. */
import 'reflect-metadata'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { after, test } from 'node:test'
import middie from '@fastify/middie'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import connect from 'connect'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import fastify from 'fastify'
import { fromNodeMiddleware, H3 } from 'h3'
import polka from 'polka'
import restify from 'restify'
import { toNodeHandler } from 'srvx/node'
import { createServer as createVite } from 'vite'

const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create', 'domains:read'] })
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }

/** Functions that mount the middleware, and return the origin of the server. */
const servers = {
  connect: handle => listen(createServer(connect().use(handle))),

  async Vite(handle) {
    const vite = await createVite({
      configFile: false,
      logLevel: 'silent',
      appType: 'custom',
      optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, ws: false, watch: null },
      plugins: [{ name: 'domains', configureServer: server => void server.middlewares.use(handle) }],
    })
    after(() => vite.close())
    return listen(createServer(vite.middlewares))
  },

  h3(handle) {
    const app = new H3()
    app.use('/v1/domains/**', fromNodeMiddleware(handle))
    return listen(createServer(toNodeHandler(app.fetch)))
  },

  async middie(handle) {
    const app = fastify()
    await app.register(middie)
    app.use(handle)
    await app.listen({ port: 0, host: '127.0.0.1' })
    after(() => app.close())
    return `http://127.0.0.1:${app.server.address().port}`
  },

  restify(handle) {
    const server = restify.createServer()
    server.pre(handle)
    return listen(server.server)
  },

  polka: handle => listen(polka().use(handle)),

  async NestJS(handle) {
    /** In TypeScript: `@Module({}) class AppModule implements NestModule`. */
    class AppModule {
      configure(consumer) {
        consumer.apply(handle).forRoutes('/')
      }
    }
    Module({})(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false })
    await app.listen(0, '127.0.0.1')
    after(() => app.close())
    return app.getUrl()
  },
}

function listen(server) {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const { server: own = server } = server
      after(() => {
        own.close()
        own.closeAllConnections()
      })
      resolve(`http://127.0.0.1:${own.address().port}`)
    })
  })
}

for (const [name, start] of Object.entries(servers))
  test(`${name} calls the router`, async () => {
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const [handle] = domainsRouter({ store, keys, operations: ['create', 'list'] })
    const origin = await start(handle)
    const post = (path, body, init) => fetch(origin + path, { method: 'POST', headers, body, ...init })
    const created = await post('/v1/domains/', '{"domains":["www.example.com","localhost"]}')
    assert.equal(created.status, 200)
    assert.deepEqual((await created.json()).data.totals, { created: 1, existing: 0, invalid: 1 })
    const listed = await fetch(`${origin}/v1/domains?limit=1`, { headers })
    assert.equal((await listed.json()).data.domains[0].domain, 'www.example.com')
    assert.equal((await post('/v1/domains', '{}', { headers: {} })).status, 401)
    // In Nest, its own parser reads the body first.
    const expected = name === 'NestJS' ? 'Bad Request' : 'invalid_request'
    assert.equal((await (await post('/v1/domains', '{')).json()).error, expected)
    assert.equal((await post('/v1/other', '{}')).status, 404)
  })

/** Functions that mount a body parser, a guard and the router in this order, and return the origin of the server. */
const guarded = {
  connect: steps => listen(createServer(steps.reduce((app, step) => app.use(step), connect()))),

  async NestJS(steps) {
    class AppModule {}
    Module({})(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false, bodyParser: false })
    for (const step of steps) app.use(step)
    await app.listen(0, '127.0.0.1')
    after(() => app.close())
    return app.getUrl()
  },
}

for (const [name, start] of Object.entries(guarded))
  test(`a GET whose body is rejected does not skip the guards of ${name}`, async () => {
    const guard = (_request, response) => {
      response.statusCode = 403
      response.end()
    }
    const router = domainsRouter({ store: createMemoryStore({ teams: [] }), keys, operations: ['list', 'export'] })
    const origin = await start([express.json(), guard, ...router])
    for (const path of ['/v1/domains', '/v1/domains/export'])
      for (const [body, status] of [
        ['{}', 403],
        ['{', 400],
      ]) {
        const call = request(origin + path, { headers: { ...headers, 'Content-Length': body.length } }).end(body)
        const [response] = await once(call, 'response')
        response.resume()
        assert.deepEqual([path, body, response.statusCode], [path, body, status])
      }
  })
