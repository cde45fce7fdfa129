/**
 * A call that is refused before its body is read gets its response, even through proxies that are still sending the
 * body, and over HTTP/2. Needs Debian's nginx, apache2 and curl. Run by `npm run test:hosts`.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { serve } from '@hono/node-server'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import { domainsHandler } from 'domain-registration/fetch'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { findFreePort } from '../free-port.ts'

const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })

const createHono = () => {
  const handle = domainsHandler({ store, keys })
  return new Hono().post('/v1/domains', context => handle(context.req.raw)).fetch
}

/** Functions that start a server, and return it. */
const servers = {
  Express: () => express().use(domainsRouter({ store, keys })).listen(0, '127.0.0.1'),
  Fastify: () => listenFastify(fastify()),
  Hono: () => serve({ fetch: createHono(), port: 0, hostname: '127.0.0.1' }),
}
const http2Servers = {
  Fastify: () => listenFastify(fastify({ http2: true })),
  Hono: () => serve({ fetch: createHono(), port: 0, hostname: '127.0.0.1', createServer: createHttp2Server }),
}

async function listenFastify(app) {
  await app.register(domainsPlugin, { store, keys }).listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function start(startServer) {
  const server = await startServer()
  if (!server.listening) await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  return server.address().port
}

let folder
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proxies-'))
  await chmod(folder, 0o755)
})
after(() => rm(folder, { recursive: true }))

/** Runs a program until the tests end. Resolves once it accepts connections. */
async function run(file, args, address) {
  const program = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(program, 'exit')
  after(async () => {
    program.kill()
    await exited
  })
  while (program.exitCode === null && !(await accepts(address))) await new Promise(resolve => setTimeout(resolve, 20))
  assert.equal(program.exitCode, null, `${file} has ended`)
}

async function accepts(address) {
  const socket = connect(address)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Functions that start a proxy in front of a port, and return where it listens. */
const proxies = {
  // As it comes, nginx speaks HTTP/1.0 to the server behind it.
  nginx: port => startNginx(port),

  apache2: startApache,
}

async function startNginx(port, settings = '') {
  const socketPath = join(folder, `nginx-${port}`)
  const file = `${socketPath}.conf`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    file,
    `daemon off; error_log /dev/null; pid ${socketPath}.pid; events {}
    ${process.getuid() === 0 ? 'user root;' : ''}
    http {
      access_log off; ${temporary.join(' ')}
      server { listen unix:${socketPath}; location / { proxy_pass http://127.0.0.1:${port}; ${settings} } }
    }`,
  )
  await run('/usr/sbin/nginx', ['-c', file, '-e', '/dev/null'], socketPath)
  return { socketPath }
}

async function startApache(port) {
  const own = await findFreePort()
  const file = join(folder, `apache-${port}.conf`)
  const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http']
  await writeFile(
    file,
    `${modules.map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
    ServerName localhost
    ServerRoot ${folder}
    PidFile ${file}.pid
    Mutex file:${folder}
    User nobody
    Group nogroup
    ErrorLog /dev/null
    Listen 127.0.0.1:${own}
    ProxyPass / http://127.0.0.1:${port}/`,
  )
  await run('/usr/sbin/apache2', ['-D', 'FOREGROUND', '-f', file], { port: own, host: '127.0.0.1' })
  return { host: '127.0.0.1', port: own }
}

const refusals = [
  [401, {}],
  [413, { Authorization: `Bearer ${key}` }],
]

/** Sends a call. Returns the status. */
async function post(address, headers, body) {
  const call = request({
    ...address,
    method: 'POST',
    path: '/v1/domains',
    headers: { 'Content-Type': 'application/json', ...headers },
  })
  const [response] = await Promise.all([once(call, 'response').then(([response]) => response), call.end(body)])
  response.resume()
  return response.statusCode
}

for (const [proxy, startProxy] of Object.entries(proxies))
  for (const [name, startServer] of Object.entries(servers))
    test(`behind ${proxy}, ${name} loses no refusal`, { skip: missing(`/usr/sbin/${proxy}`) }, async () => {
      const address = await startProxy(await start(startServer))
      // The body is complete at the proxy before the proxy asks the server.
      await expectEachRefusal(address, body => ({ 'Content-Length': body.length }))
    })

for (const [name, startServer] of Object.entries(servers))
  test(`behind nginx that passes on chunks as they come, ${name} loses no refusal`, {
    skip: missing('/usr/sbin/nginx'),
  }, async () => {
    const settings = 'proxy_http_version 1.1; proxy_request_buffering off;'
    const address = await startNginx(await start(startServer), settings)
    await expectEachRefusal(address, () => ({ 'Transfer-Encoding': 'chunked' }))
  })

async function expectEachRefusal(address, toFields) {
  for (const [expected, headers] of refusals)
    for (const kilobytes of expected === 413 ? [270, 900] : [20, 100, 270]) {
      const body = Buffer.alloc(kilobytes * 1000, ' ')
      const fields = { ...headers, ...toFields(body) }
      const statuses = []
      for (let turn = 0; turn < 10; turn += 1)
        statuses.push(...(await Promise.all(Array.from({ length: 8 }, () => post(address, fields, body)))))
      assert.deepEqual(count(statuses), { [expected]: 80 }, `${kilobytes} kB`)
    }
}

for (const [name, startServer] of Object.entries(http2Servers))
  test(`over HTTP/2, curl gets each refusal from ${name}`, { skip: missing('/usr/bin/curl') }, async () => {
    const url = `http://127.0.0.1:${await start(startServer)}/v1/domains`
    const file = join(folder, 'body')
    for (const [expected, headers] of refusals) {
      await writeFile(file, Buffer.alloc(expected === 413 ? 900_000 : 270_000, ' '))
      const fields = Object.entries({ 'Content-Type': 'application/json', ...headers }).flatMap(([name, value]) => [
        '-H',
        `${name}: ${value}`,
      ])
      const statuses = []
      for (let turn = 0; turn < 10; turn += 1) {
        const args = ['-sS', '--http2-prior-knowledge', '-o', '/dev/null', '-w', '%{http_code}', ...fields]
        const { stdout } = await promisify(execFile)('curl', [...args, '--data-binary', `@${file}`, url])
        statuses.push(stdout)
      }
      assert.deepEqual(count(statuses), { [expected]: 10 })
    }
  })

/** The reason to skip a test; `false` if the program is installed. */
function missing(file) {
  return existsSync(file) ? false : `${file} is not installed`
}

function count(statuses) {
  const counts = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
