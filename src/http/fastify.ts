import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyWithoutItsLength, notDeclaredAsJson, payloadTooLarge } from '../errors/call-errors.ts'
import { type FailureRecord, writeToConsole } from '../errors/failure-log.ts'
import type { Rules } from '../options.ts'
import { createDefaultOnError } from './failure.ts'
import { mountOnNode, type RejectedBodies, readNodeBody, toRejectedBody } from './node.ts'
import { type HandlerOptions, type PathOption, withoutTrailingSlash } from './options.ts'
import type { AdapterRequest, HandlerRequest, OperationName } from './request.ts'
import { operations } from './routes.ts'

/** Options of {@link domainsPlugin}. Fastify's own option `prefix` can be passed as well. */
export type DomainsPluginOptions = HandlerOptions<AdapterRequest<FastifyRequest>> & PathOption

/** Our errors, keyed by the `code` of Fastify's error. Fastify's reference lists all codes. */
const rejectedBodies: RejectedBodies = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: bodyWithoutItsLength,
  FST_ERR_CTP_BODY_TOO_LARGE: () => payloadTooLarge(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notDeclaredAsJson,
}

const ofFastify = { holds: () => true, expected: 'as Fastify says' }

/** Allows Fastify's own options, because Fastify also passes them to the plugin. */
const pluginRules: Rules = {
  prefix: ofFastify,
  logLevel: ofFastify,
  logSerializers: ofFastify,
}

/**
 * Handles `POST /v1/domains` in a Fastify 4 or 5 application. The plugin is encapsulated: it does not affect your
 * content type parsers, error handler or other routes. Your hooks also run for the plugin's routes. Fastify's `prefix`
 * comes before our `path`.
 *
 * `@fastify/swagger` skips these routes: pass it the document of {@link openapi}, which describes them.
 *
 * If Fastify rejects the body of a POST on our route, the response is our own error. Any other error goes to your error
 * handler.
 *
 * @throws {TypeError} if an option is missing, invalid or unknown; the message says what to pass instead.
 *
 * @example
 * const app = fastify()
 * app.register(domainsPlugin, { store, keys })
 */
export async function domainsPlugin(app: FastifyInstance, options: DomainsPluginOptions): Promise<void> {
  const { handle, path, offered } = mountOnNode(
    { ...options, onError: options.onError ?? createDefaultOnError(toFastifyLog) },
    pluginRules,
  )

  async function respond(
    operation: OperationName,
    request: FastifyRequest,
    reply: FastifyReply,
    readBody?: HandlerRequest['readBody'],
  ): Promise<FastifyReply> {
    const node = { request: request.raw, response: reply.raw }
    const handled = await handle({ operation, raw: request, ...node, readBody })
    if (!handled || reply.sent) return reply
    const { status, headers, body, stream } = handled
    return reply
      .code(status)
      .headers(headers)
      .send(stream ?? body)
  }

  const streams = new WeakMap<FastifyRequest, IncomingMessage>()
  for (const operation of offered) {
    const { method, suffix } = operations[operation]
    const own = `${path}${suffix}`
    app.register(
      async route => {
        route.removeAllContentTypeParsers()
        // Leaves the body unread, so `request.body` is always undefined: the handler reads the stream only once it
        // knows that the caller is allowed.
        route.addContentTypeParser('*', (request, stream, done) => {
          streams.set(request, stream)
          done(null, undefined)
        })
        route.setErrorHandler((error: FastifyError, request, reply) => {
          const readBody = toRejectedBody(operation, rejectedBodies, error.code)
          if (!readBody) throw error
          return respond(operation, request, reply, readBody)
        })
        // Below a prefix, a route `/` matches with and without a trailing slash, regardless of `ignoreTrailingSlash`.
        route.route({
          method,
          url: '/',
          schema: { hide: true } as object,
          // Without this, Fastify would also run the GET route for HEAD requests, and read a page only to discard it.
          ...(method === 'GET' && { exposeHeadRoute: false }),
          handler: (request, reply) =>
            isExactly(own, request.raw.url ?? '')
              ? respond(operation, request, reply, limit => readNodeBody(streams.get(request) ?? request.raw, limit))
              : reply.callNotFound(),
        })
      },
      { prefix: own },
    )
  }
}

/**
 * Returns whether the path, as it was sent, is the path of the operation. Fastify's router also matches a path with
 * encoded letters and, in Fastify 4, a path with text after a semicolon. The other adapters do not match such paths,
 * and neither does a gateway in front that permits only some paths.
 */
function isExactly(own: string, url: string): boolean {
  const [requested = ''] = url.split('?', 1)
  // Ignores case and repeated slashes, because the router has already checked them as its options require.
  const path = withoutTrailingSlash(requested.replaceAll(/\/+/g, '/')).toLowerCase()
  return path.endsWith(own.toLowerCase()) && !path.includes(';')
}

/**
 * Logs the facts that would otherwise be written to the console, but as separate fields. The logger adds the time and
 * the ID of the request.
 */
function toFastifyLog({ raw: { log } }: AdapterRequest<FastifyRequest>): (record: FailureRecord) => void {
  if (isNoLogger(log)) return writeToConsole
  return ({ requestId: _, ...record }) =>
    log.error({ package: 'domain-registration', ...record }, `${record.step} failed`)
}

/** If the application sets no logger, Fastify provides one that does nothing and has no level. */
const isNoLogger = (log: FastifyRequest['log']): boolean => log.level === undefined && log.error === log.trace
