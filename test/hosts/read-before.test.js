/**
 * A body that other code has read before the handler is a mistake of the application, so it is a 500 that onError hears
 * of, not a 400 or a 408. Run by `npm run test:hosts`.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { serve } from '@hono/node-server'
import { createRequestListener } from '@remix-run/node-fetch-server'
import { createServerAdapter } from '@whatwg-node/server'
import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { H3 } from 'h3'
import { Hono } from 'hono'
import { toNodeHandler } from 'srvx/node'

/** Node's own server, whose application has read the body before it converts the request. */
const readFirst = listener =>
  createServer((request, response) => request.resume().once('end', () => listener(request, response)))

/** Functions that return a server whose application reads the body before it calls the handler. */
const servers = {
  Hono: handle => {
    const app = new Hono().post('/v1/domains', async context => {
      await context.req.json()
      return handle(context.req.raw)
    })
    return serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  },
  'whatwg-node': handle => readFirst(createServerAdapter(handle)),
  h3: handle => {
    const app = new H3().post('/v1/domains', async event => {
      await event.req.json()
      return handle(event.req)
    })
    return createServer(toNodeHandler(app.fetch))
  },
  'h3, from Node': handle => readFirst(toNodeHandler(new H3().post('/v1/domains', event => handle(event.req)).fetch)),
  'node-fetch-server': handle =>
    createServer(
      createRequestListener(async request => {
        await request.json()
        return handle(request)
      }),
    ),
}

for (const [name, create] of Object.entries(servers))
  test(`a body read before, under ${name}`, async () => {
    const errors = []
    const server = create(
      domainsHandler({
        store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
        authenticate: () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }),
        onError: (error, { step }) => errors.push([step, error.message]),
      }),
    )
    if (!server.listening) await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => {
      server.close()
      server.closeAllConnections()
    })
    const response = await fetch(`http://127.0.0.1:${server.address().port}/v1/domains`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"domains":["www.example.com"]}',
    })
    assert.equal(response.status, 500, await response.text())
    assert.deepEqual(errors, [['readBody', 'The request body has already been read, or is being read']])
  })
