import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express, { type Express } from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import fastify4 from 'fastify4'
import { Hono } from 'hono'
import { domainsRouter } from '../../src/adapters/express.ts'
import { domainsPlugin } from '../../src/adapters/fastify.ts'
import { domainsHandler } from '../../src/adapters/fetch.ts'
import type { HandlerOptions } from '../../src/http/handler.ts'
import { listen, type RunningServer, whenListening } from '../listen.ts'

/** Below which every server has what is ours; what is not ours there, it answers 404 with `not ours`. */
export const PREFIX = '/api'

const NOT_OURS = 'not ours'

type Start = (options: HandlerOptions) => Promise<RunningServer>

const startExpress =
  (framework: () => Express): Start =>
  options => {
    const app = framework().use(PREFIX, domainsRouter(options))
    app.use((_request, response) => void response.status(404).send(NOT_OURS))
    return listen(app)
  }

const startFastify =
  (framework: typeof fastify): Start =>
  async options => {
    const app = framework({ forceCloseConnections: true })
    app.register(domainsPlugin, { ...options, prefix: PREFIX })
    app.setNotFoundHandler((_request, reply) => void reply.code(404).send(NOT_OURS))
    await app.listen({ port: 0 })
    return { origin: `http://localhost:${(app.server.address() as AddressInfo).port}`, close: () => app.close() }
  }

const startHono: Start = options => {
  const handle = domainsHandler(options)
  const app = new Hono({ strict: false })
    .all(`${PREFIX}/v1/domains/*`, context => handle(context.req.raw))
    .notFound(context => context.text(NOT_OURS, 404))
  return whenListening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

/** Every adapter, below a prefix, on a real server. */
export const servers: readonly (readonly [name: string, start: Start, statusOfWhatIsNotOffered: 404 | 405])[] = [
  ['Express 5', startExpress(express), 404],
  ['Express 4', startExpress(express4), 404],
  ['Fastify 5', startFastify(fastify), 404],
  ['Fastify 4', startFastify(fastify4 as unknown as typeof fastify), 404],
  ['fetch under Hono', startHono, 405],
]
