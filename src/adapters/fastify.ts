import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyWithoutItsLength, notDeclaredAsJson, payloadTooLarge } from '../api-errors.ts'
import { describeFailure, type FailureContext } from '../http/failure.ts'
import { createHandler } from '../http/handler.ts'
import {
  DEFAULT_BODY_TIME_LIMIT,
  type HandlerOptions,
  handlerRules,
  type PathOption,
  pathRule,
  toPath,
} from '../http/options.ts'
import type { AdapterRequest, HandlerRequest } from '../http/request.ts'
import { type Rules, requireOptions } from '../options.ts'
import { abandonBody, readNodeBody } from './node-body.ts'
import { type RefusedBodies, toRefusedBody } from './refused-body.ts'

/** Options of {@link domainsPlugin}, beside Fastify's own `prefix`. */
export interface DomainsPluginOptions extends HandlerOptions<AdapterRequest<FastifyRequest>>, PathOption {}

/** By the `code` of the error; Fastify's reference lists them. */
const refusedBodies: RefusedBodies = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: bodyWithoutItsLength,
  FST_ERR_CTP_BODY_TOO_LARGE: () => payloadTooLarge(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notDeclaredAsJson,
}

const ofFastify = { holds: () => true, expected: 'as Fastify says' }

/** Fastify also passes its own options of a plugin to the plugin. */
const pluginRules: Rules = {
  ...handlerRules,
  path: pathRule,
  prefix: ofFastify,
  logLevel: ofFastify,
  logSerializers: ofFastify,
}

/**
 * Answers `POST /v1/domains` in a Fastify 4 or 5 application. The plugin is encapsulated: your content type parsers,
 * error handler and other routes stay as they are, and your hooks run as for your own routes. Fastify's `prefix` goes
 * before our `path`.
 *
 * If `@fastify/swagger` is registered first, its document holds the route as {@link openapi} describes it. Pass it the
 * security schemes: `openapi: { components: { securitySchemes: openapi().components.securitySchemes } }`.
 *
 * What Fastify refuses on our route is answered with our error body. Any other error goes on to your error handler.
 *
 * @throws {TypeError} for an option that is missing, wrong or does not exist; it says what to pass instead.
 *
 * @example
 * const app = fastify()
 * app.register(domainsPlugin, { store, keys })
 */
export async function domainsPlugin(app: FastifyInstance, options: DomainsPluginOptions): Promise<void> {
  requireOptions(options, pluginRules)
  const handle = createHandler({ ...pickHandlerOptions(options), onError: options.onError ?? logFailure })

  async function answer(raw: FastifyRequest, reply: FastifyReply, readBody: HandlerRequest['readBody']) {
    const { status, headers, body } = await handle({ header: name => raw.headers[name]?.toString(), readBody, raw })
    if (reply.sent) return reply
    abandonBody(raw.raw, reply.raw, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    return reply.code(status).headers(headers).send(body)
  }

  const description = await describeIfAsked(app, options)
  app.register(
    async route => {
      route.removeAllContentTypeParsers()
      // Keeps the body a stream: nothing is read before the caller is known to be allowed.
      route.addContentTypeParser('*', (_request, stream, done) => done(null, stream))
      route.setErrorHandler((error: FastifyError, request, reply) => {
        const readBody = toRefusedBody(refusedBodies, error.code)
        if (!readBody) throw error
        return answer(request, reply, readBody)
      })
      const handler = (request: FastifyRequest, reply: FastifyReply) =>
        answer(request, reply, limit => readNodeBody((request.body ?? request.raw) as IncomingMessage, limit))
      // Below a prefix, a route `/` matches with and without a trailing slash, whatever `ignoreTrailingSlash` is.
      if (!description) return void route.post('/', handler)
      route.post('/', { ...description, prefixTrailingSlash: 'no-slash', handler })
      if (route.prefix === '' || ignoresTrailingSlash(app)) return
      const schema = { ...description.schema, hide: true }
      route.post('/', { ...description, schema, prefixTrailingSlash: 'slash', handler })
    },
    { prefix: toPath(options) },
  )
}

/**
 * What `@fastify/swagger` shows of our route. The handler validates and serializes, so Fastify must not.
 */
async function describeIfAsked(app: FastifyInstance, { keyPrefix, bodyLimit, rateLimiter }: DomainsPluginOptions) {
  if (!app.hasDecorator('swagger')) return null
  const { describeRoute } = await import('../openapi/route-schema.ts')
  return {
    schema: describeRoute({ keyPrefix, bodyLimit, rateLimited: rateLimiter !== undefined }),
    validatorCompiler: () => () => true,
    serializerCompiler: () => JSON.stringify,
  }
}

/** Which of the two exists depends on the version of Fastify. */
const ignoresTrailingSlash = ({ initialConfig }: FastifyInstance): boolean | undefined =>
  (initialConfig as { routerOptions?: { ignoreTrailingSlash?: boolean } }).routerOptions?.ignoreTrailingSlash ??
  initialConfig.ignoreTrailingSlash

const pickHandlerOptions = (options: DomainsPluginOptions) =>
  Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(handlerRules, name)),
  ) as unknown as DomainsPluginOptions

function logFailure(error: unknown, { request, step }: FailureContext<AdapterRequest<FastifyRequest>>): void {
  request.raw.log.error({ err: error }, describeFailure(step))
}
