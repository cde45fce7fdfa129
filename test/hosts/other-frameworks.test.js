/** Calls the servers of docs/frameworks.md over HTTP. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { Elysia } from 'elysia'
import { H3 } from 'h3'
import Koa from 'koa'
import { toNodeHandler } from 'srvx/node'

const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
const scopes = ['domains:create', 'domains:read']
keys.addKey({ hash, type: 'team', ownerId: '1', scopes })
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }

/** Functions that start a server and return its origin. */
const servers = {
  async Koa(handle) {
    const app = new Koa()
    app.use(async (context, next) => {
      const { path, search, method, req } = context
      if (!/^\/v1\/domains\/?$/.test(path) || method === 'TRACE') return next()
      const headers = new Headers()
      for (let index = 0; index < req.rawHeaders.length; index += 2)
        headers.append(req.rawHeaders[index], req.rawHeaders[index + 1])
      const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(req)
      const init = { method, headers, body, duplex: 'half' }
      context.body = await handle(new Request(`http://localhost${path}${search}`, init), context)
    })
    return listen(createServer(app.callback()))
  },

  async h3(handle) {
    const app = new H3()
    app.all('/v1/domains', event => handle(event.req, event.context))
    return listen(createServer(toNodeHandler(app.fetch)))
  },

  async Elysia(handle) {
    const app = new Elysia()
    app.all('/v1/domains', ({ request, store }) => handle(request, store), { parse: 'none' })
    return listen(createServer(toNodeHandler(app.fetch)))
  },
}

async function listen(server) {
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${server.address().port}`
}

/** Sends raw bytes, and returns the response. */
async function send(origin, text) {
  const socket = connect(new URL(origin).port, '127.0.0.1')
  socket.end(text)
  return (await socket.setEncoding('latin1').toArray()).join('')
}

for (const [name, start] of Object.entries(servers)) {
  test(`${name} serves the handler`, async t => {
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const origin = await start(domainsHandler({ store, keys, operations: ['create', 'list'], bodyLimit: 1000 }))
    const call = (path, init) => fetch(origin + path, { headers, ...init })
    const post = (path, body, init) => call(path, { method: 'POST', body, ...init })

    await t.test('registers names, with and without a trailing slash, and lists them', async () => {
      const created = await post('/v1/domains', '{"domains":["www.example.com","localhost"]}')
      assert.equal(created.status, 200)
      assert.equal(created.headers.get('Content-Type'), 'application/json; charset=utf-8')
      assert.deepEqual((await created.json()).data.totals, { created: 1, existing: 0, invalid: 1 })
      assert.equal((await post('/v1/domains/', '{"domains":["www.example.com"]}')).status, 200)
      const listed = await call('/v1/domains?limit=1')
      assert.equal((await listed.json()).data.domains[0].domain, 'www.example.com')
    })

    await t.test('sends 401, 400, 405 and 413 as documented, and 404 for other paths', async () => {
      const unknown = await post('/v1/domains', '{}', { headers: { 'Content-Type': 'application/json' } })
      assert.equal(unknown.headers.get('WWW-Authenticate'), 'Bearer')
      assert.equal((await unknown.json()).error, 'unauthorized')
      assert.equal((await (await post('/v1/domains', '{')).json()).error, 'invalid_request')
      const tooLarge = await post('/v1/domains', JSON.stringify({ domains: ['x'.repeat(1000)] }))
      assert.equal((await tooLarge.json()).error, 'payload_too_large')
      const put = await call('/v1/domains', { method: 'PUT', body: '{}' })
      assert.deepEqual([put.status, put.headers.get('Allow')], [405, 'POST, GET'])
      assert.equal((await post('/v1/other', '{}')).status, 404)
    })

    // The servers of h3 and Elysia themselves send 500 for some of the following requests.
    if (name !== 'Koa') return
    await t.test('sends no 500 for an odd Host header, for TRACE, or for a password in the URL', async () => {
      for (const [line, host] of [
        ['POST /v1/domains', '['],
        ['POST /v1/domains', 'a b'],
        ['POST /v1/domains', 'x:99999'],
        ['TRACE /v1/domains', 'localhost'],
        ['POST http://u:p@y/v1/domains', 'y'],
      ])
        assert.match(
          await send(origin, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
          /^HTTP\/1.1 4/,
        )
    })
  })
}
