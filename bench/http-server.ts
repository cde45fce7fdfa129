/**
 * The servers of `http.ts`. Each server runs in its own process: `node --import tsx bench/http-server.ts 'express,
 * ours'`.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createAdaptorServer } from '@hono/node-server'
import {
  createMemoryKeyStore,
  createMemoryStore,
  type DomainStore,
  hashApiKey,
  registerDomains,
} from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import { domainsHandler } from 'domain-registration/fetch'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { keyContext, team } from './measure.ts'

export const path = '/v1/domains'
export const apiKey = `svc_team_${team.id}_${'5'.repeat(64)}`

const bodyLimit = 256 * 1024
const noStore = { 'Cache-Control': 'no-store' }
const createStore = () => createMemoryStore({ teams: [team] })
let held = createStore()
/**
 * The store is emptied before each load. The server keeps running, because a new one would have to compile its code
 * again.
 */
const store: DomainStore = { findTeam: id => held.findTeam(id), register: request => held.register(request) }
const register = (body: unknown) => registerDomains(keyContext, body, store)

async function createKeys() {
  const keys = createMemoryKeyStore()
  keys.addKey({ hash: await hashApiKey(apiKey), type: 'team', ownerId: team.id, scopes: keyContext.scopes })
  return keys
}

const servers = {
  async 'express, ours'() {
    return createServer(express().use(domainsRouter({ store, keys: await createKeys() })))
  },
  'express, by hand'() {
    // Without this setting, Express would hash each response to create an ETag, which our adapter does not send.
    const app = express().set('etag', false)
    app.post(path, express.json({ limit: bodyLimit }), async (request, response) => {
      response.set(noStore).json(await register(request.body))
    })
    return createServer(app)
  },
  async 'fastify, ours'() {
    const app = fastify()
    app.register(domainsPlugin, { store, keys: await createKeys() })
    await app.ready()
    return app.server
  },
  async 'fastify, by hand'() {
    const app = fastify({ bodyLimit })
    app.post(path, async (request, reply) => reply.headers(noStore).send(await register(request.body)))
    await app.ready()
    return app.server
  },
  async 'fetch, ours'() {
    const handle = domainsHandler({ store, keys: await createKeys() })
    const app = new Hono().post(path, context => handle(context.req.raw))
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
  'fetch, by hand'() {
    const app = new Hono().post(path, async context => {
      const body = await register(await context.req.json())
      return context.json(body, 200, { ...noStore, 'Content-Type': 'application/json; charset=utf-8' })
    })
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
} satisfies Record<string, () => Server | Promise<Server>>

export type ServerName = keyof typeof servers

const [, script, name] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  const server = (await servers[name as ServerName]()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', message => {
    if (message === 'empty') held = createStore()
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}
