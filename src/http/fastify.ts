import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHandler, type HandlerOptions } from './handler.ts'
import { abandonBody, readNodeBody } from './node-body.ts'
import { type PathOption, toPath } from './path.ts'
import { type Refusals, toRefusedBody } from './refusal.ts'
import { DEFAULT_BODY_TIME_LIMIT, type HandlerRequest } from './request.ts'

export type DomainsPluginOptions = HandlerOptions & PathOption

/** By the `code` of the error; see the list of error codes in Fastify's reference. */
const refusals: Refusals = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
}

/**
 * Answers `POST /v1/domains` in a Fastify 4 or 5 application. It is encapsulated: the host's content type parsers, error
 * handler and other routes stay as they are, and its hooks run as for a route of its own. Fastify's own `prefix` goes
 * before our `path`.
 *
 * What Fastify refuses on our route is answered in our error shape. Any other error goes on to the host's error handler.
 *
 * @example
 * app.register(domainsPlugin, { store, keys })
 */
export async function domainsPlugin(app: FastifyInstance, options: DomainsPluginOptions): Promise<void> {
  const handle = createHandler(options)

  async function answer(request: FastifyRequest, reply: FastifyReply, readBody: HandlerRequest['readBody']) {
    const { status, headers, body } = await handle({ header: name => request.headers[name]?.toString(), readBody })
    if (reply.sent) return reply
    abandonBody(request.raw, reply.raw, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    return reply.code(status).headers(headers).send(body)
  }

  // Below a prefix, Fastify's route `/` is with and without a trailing slash, whatever the host's `ignoreTrailingSlash`.
  app.register(
    async route => {
      route.removeAllContentTypeParsers()
      // Nothing is read before the caller is known to be allowed: the body that our route gets is still the stream.
      route.addContentTypeParser('*', (_request, stream, done) => done(null, stream))
      route.setErrorHandler((error: FastifyError, request, reply) => {
        const readBody = toRefusedBody(refusals, error.code)
        if (!readBody) throw error
        return answer(request, reply, readBody)
      })
      route.post('/', (request, reply) =>
        answer(request, reply, limit => readNodeBody((request.body ?? request.raw) as IncomingMessage, limit)),
      )
    },
    { prefix: toPath(options) },
  )
}
