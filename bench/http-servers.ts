import { createServer, type Server } from 'node:http'
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
import { apiKey, namesOfCall, path, teamId } from './http-calls.ts'

const team = { id: teamId, organizationId: '1', state: 'active' } as const
const scopes = ['domains:create']

const createStore = () => createMemoryStore({ teams: [team] })

let held = createStore()

/** The store of a server, which {@link emptyStore} empties; the server stays as it is. */
const store: DomainStore = {
  findTeam: id => held.findTeam(id),
  register: request => held.register(request),
}

export function emptyStore(): void {
  held = createStore()
}

async function createKeys() {
  const keys = createMemoryKeyStore()
  keys.addKey({ hash: await hashApiKey(apiKey), type: 'team', ownerId: teamId, scopes })
  return keys
}

/** What the bare frameworks answer, put into JSON for each call: an answer of ours, and the one field that we add. */
const noStore = { 'Cache-Control': 'no-store' }
const answer = await registerDomains({ type: 'team', teamId, scopes }, { domains: namesOfCall(0) }, createStore())
const bodyLimit = 256 * 1024

/** Written by hand in a framework, with nothing of ours but the operation: no keys, no checks, no limits. */
const register = (body: unknown) => registerDomains({ type: 'team', teamId, scopes }, body, store)

/** By name. */
export const servers: Readonly<Record<string, () => Server | Promise<Server>>> = {
  async 'Express 5, ours'() {
    return createServer(express().use(domainsRouter({ store, keys: await createKeys() })))
  },
  'Express 5, bare'() {
    // We send no entity tag: making one costs a hash of the answer.
    const app = express().set('etag', false)
    app.post(path, express.json({ limit: bodyLimit }), (request, response) => {
      requireDomains(request.body)
      response.set(noStore).json(answer)
    })
    return createServer(app)
  },
  'Express 5, by hand'() {
    const app = express().set('etag', false)
    app.post(path, express.json({ limit: bodyLimit }), async (request, response) => {
      response.set(noStore).json(await register(request.body))
    })
    return createServer(app)
  },
  async 'Fastify 5, ours'() {
    const app = fastify()
    app.register(domainsPlugin, { store, keys: await createKeys() })
    await app.ready()
    return app.server
  },
  async 'Fastify 5, bare'() {
    const app = fastify({ bodyLimit })
    app.post(path, (request, reply) => {
      requireDomains(request.body)
      reply.headers(noStore).send(answer)
    })
    await app.ready()
    return app.server
  },
  async 'Fastify 5, by hand'() {
    const app = fastify({ bodyLimit })
    app.post(path, async (request, reply) => reply.headers(noStore).send(await register(request.body)))
    await app.ready()
    return app.server
  },
  async 'fetch under Hono 4, ours'() {
    const handle = domainsHandler({ store, keys: await createKeys() })
    const app = new Hono().post(path, context => handle(context.req.raw))
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
  'fetch under Hono 4, bare'() {
    const app = new Hono().post(path, async context => {
      requireDomains(await context.req.json())
      return context.json(answer, 200, { ...noStore, 'Content-Type': 'application/json; charset=utf-8' })
    })
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
  'fetch under Hono 4, by hand'() {
    const app = new Hono().post(path, async context => {
      const body = await register(await context.req.json())
      return context.json(body, 200, { ...noStore, 'Content-Type': 'application/json; charset=utf-8' })
    })
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
  /** As a host has it that lets its customers remove names, with a path of its own. */
  async 'Express 5, ours, and names released'() {
    const store = createStore()
    const app = express().use(domainsRouter({ store, keys: await createKeys() }))
    app.delete(path, express.json({ limit: bodyLimit }), (request, response) => {
      store.release(teamId, requireDomains(request.body))
      response.sendStatus(204)
    })
    return createServer(app)
  },
}

/** That the body was parsed, so that nobody leaves it out. */
function requireDomains(body: unknown): string[] {
  const { domains } = (body ?? {}) as { domains?: unknown }
  if (!Array.isArray(domains)) throw new TypeError('The body was not parsed')
  return domains as string[]
}
