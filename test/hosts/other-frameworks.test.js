/** Calls the servers of examples/frameworks over HTTP. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { generateApiKey } from 'domain-registration'
import { startExample } from './start-example.js'

const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
/** The examples let in everybody; here, a caller needs the key. */
const record = JSON.stringify({ hash, type: 'team', ownerId: '1', scopes: ['domains:create', 'domains:read'] })
const options = `keys: { findKey: hash => (hash === '${hash}' ? ${record} : null) },
  operations: ['create', 'list'], bodyLimit: 1000`

/** Sends raw bytes, and returns the response. */
async function send(origin, text) {
  const socket = connect(new URL(origin).port, '127.0.0.1')
  socket.end(text)
  return (await socket.setEncoding('latin1').toArray()).join('')
}

for (const name of ['koa', 'h3', 'elysia']) {
  test(`examples/frameworks/${name}.ts serves the handler`, async t => {
    const origin = await startExample(`frameworks/${name}.ts`, {
      'domainsHandler({ store, authenticate })': `domainsHandler({ store, ${options} })`,
    })
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
    if (name !== 'koa') return
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
