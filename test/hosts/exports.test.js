/** Tests exports that fail midway in Express and Fastify, compressed or not. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { after, test } from 'node:test'
import fastifyCompress from '@fastify/compress'
import compression from 'compression'
import { createMemoryStore, registerDomains } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import express from 'express'
import fastify from 'fastify'
import http2Express from 'http2-express'

const teams = [{ id: '1', organizationId: '10', state: 'active' }]
const store = createMemoryStore({ teams })
const team = { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read'] }
for (let part = 0; part < 200; part += 1) {
  const domains = Array.from({ length: 100 }, (_, index) => `n${part * 100 + index}.example.com`)
  await registerDomains(team, { domains }, store)
}

/**
 * @param pages The number of pages after which the store fails. Use a large number, because compression delays the
 *   first bytes.
 */
function createOptions(pages) {
  let listed = 0
  async function list(page) {
    listed += 1
    if (listed > pages) throw new Error('disk full')
    return store.list(page)
  }
  return { store: { ...store, list }, authenticate: () => team, operations: ['export'], onError() {} }
}

/** Functions that create a server without starting it. */
const servers = {
  'Express over HTTP/1': options => createServer(express().use(compression(), domainsRouter(options))),
  'Express over HTTP/2': options => createHttp2Server(http2Express(express).use(compression(), domainsRouter(options))),
  'Fastify over HTTP/1': options => createFastify({}, options),
  'Fastify over HTTP/2': options => createFastify({ http2: true }, options),
}

async function createFastify(settings, options) {
  const app = fastify(settings)
  await app.register(fastifyCompress)
  app.register(domainsPlugin, options)
  await app.ready()
  return app
}

async function start(name, options) {
  const server = await servers[name](options)
  if ('inject' in server) await server.listen({ port: 0, host: '127.0.0.1' })
  else await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => server.close())
  const { port } = (server.server ?? server).address()
  return `http://127.0.0.1:${port}`
}

/** Reads an export to its end. @returns Its encoding, and whether it looks complete. */
async function read(origin, isHttp2, accepted) {
  if (!isHttp2) {
    const response = await fetch(`${origin}/v1/domains/export`, { headers: { 'Accept-Encoding': accepted } })
    const encoding = response.headers.get('Content-Encoding') ?? 'identity'
    return response.arrayBuffer().then(
      () => ({ encoding, isComplete: true }),
      () => ({ encoding, isComplete: false }),
    )
  }
  const session = connect(origin)
  const stream = session.request({ ':path': '/v1/domains/export', 'accept-encoding': accepted })
  let encoding
  let hasEnded = false
  stream.on('error', () => {})
  stream.on('response', fields => {
    encoding = fields['content-encoding'] ?? 'identity'
  })
  stream.on('end', () => {
    hasEnded = true
  })
  stream.resume()
  await new Promise(resolve => stream.once('close', resolve))
  session.destroy()
  return { encoding, isComplete: hasEnded && stream.rstCode === 0 }
}

for (const name of Object.keys(servers))
  for (const encoding of ['gzip', 'identity'])
    test(`in ${name}, an export is complete, and an export that fails midway looks cut off (${encoding})`, async () => {
      for (const [pages, isComplete] of [
        [Number.POSITIVE_INFINITY, true],
        [60, false],
      ]) {
        const origin = await start(name, createOptions(pages))
        assert.deepEqual(await read(origin, name.endsWith('2'), encoding), { encoding, isComplete })
      }
    })

/**
 * Reads an export over HTTP/1.0, in which the end of the connection ends the body. @returns `end`, or the code of the
 * error.
 */
async function readOverHttp10(origin) {
  const { hostname, port } = new URL(origin)
  // If a read does not fill its buffer, Node may mistake a reset for an end.
  const onread = { buffer: Buffer.alloc(1), callback: () => true }
  const socket = connectTcp({ host: hostname, port: Number(port), onread })
  socket.write('GET /v1/domains/export HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n')
  return once(socket, 'end').then(
    () => 'end',
    error => error.code,
  )
}

for (const name of Object.keys(servers).filter(name => name.endsWith('1'))) {
  test(`${name}: a compressed export that fails midway resets an HTTP/1.0 connection`, async () => {
    assert.equal(await readOverHttp10(await start(name, createOptions(Number.POSITIVE_INFINITY))), 'end')
    assert.equal(await readOverHttp10(await start(name, createOptions(60))), 'ECONNRESET')
  })
}
