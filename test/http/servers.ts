import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express, { type Express } from 'express'
import express4 from 'express4'
import fastify, { type FastifyInstance } from 'fastify'
import fastify4 from 'fastify4'
import { Hono } from 'hono'
import { domainsRouter } from '../../src/http/express.ts'
import { domainsPlugin } from '../../src/http/fastify.ts'
import { domainsHandler } from '../../src/http/fetch.ts'
import type { HandlerOptions } from '../../src/http/index.ts'
import { isLong } from '../counts.ts'
import { listen, type RunningServer, whenListening } from '../listen.ts'

/** The body of the 404 that the server itself sends. */
const NOT_OURS = 'not ours'

/** Starts a server. The prefix is passed to `app.use` in Express, and to `register` in Fastify. */
type Start = (options: HandlerOptions & { path?: string; prefix?: string }) => Promise<RunningServer>

/** @param before Middleware of the application that runs before the package's, such as a body parser. */
export const startExpress =
  (framework: () => Express, before: (app: Express) => void = () => {}): Start =>
  ({ prefix = '/', ...options }) => {
    const app = framework()
    before(app)
    app.use(prefix, domainsRouter(options))
    app.use((_request, response) => void response.status(404).send(NOT_OURS))
    return listen(app)
  }

export const startFastify =
  (framework: typeof fastify): Start =>
  options => {
    const app = framework({ forceCloseConnections: true })
    app.register(domainsPlugin, options)
    app.setNotFoundHandler((_request, reply) => void reply.code(404).send(NOT_OURS))
    return listenOnFastify(app)
  }

export async function listenOnFastify(app: FastifyInstance): Promise<RunningServer> {
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { origin: `http://localhost:${port}`, close: () => app.close() }
}

const startHono: Start = ({ prefix = '', path = '/v1/domains', ...options }) => {
  const handle = domainsHandler({ ...options, path })
  const app = new Hono({ strict: false })
    .all(`${prefix}${path}/*`, context => handle(context.req.raw))
    .notFound(context => context.text(NOT_OURS, 404))
  return whenListening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

/** Every adapter on a real server, with all versions of its framework. */
export const allServers: readonly (readonly [name: string, start: Start, statusOfWhatIsNotOffered: 404 | 405])[] = [
  ['Express 5', startExpress(express), 404],
  ['Express 4', startExpress(express4), 404],
  ['Fastify 5', startFastify(fastify), 404],
  ['Fastify 4', startFastify(fastify4 as unknown as typeof fastify), 404],
  ['fetch under Hono', startHono, 405],
]

/**
 * Every adapter on a real server; `adapters.test.ts` and others run their cases on each. A short run leaves out the
 * former versions of the frameworks, which use the same adapters.
 */
export const servers = allServers.filter(([name]) => isLong || !name.endsWith(' 4'))
