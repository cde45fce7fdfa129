import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyWithoutItsLength, notDeclaredAsJson, payloadTooLarge } from '../errors/call-errors.ts'
import { describeFailure, type FailureContext, logFailure as logFailureToConsole } from '../http/failure.ts'
import { createHandler } from '../http/handler.ts'
import { operations } from '../http/operations.ts'
import {
  DEFAULT_BODY_TIME_LIMIT,
  DEFAULT_OPERATIONS,
  type HandlerOptions,
  handlerRules,
  type PathOption,
  pathRule,
  toPath,
  withoutTrailingSlash,
} from '../http/options.ts'
import { type AdapterRequest, type HandlerRequest, type OperationName, readQuery } from '../http/request.ts'
import { type OpenApiDocument, type OpenApiOptions, openapi } from '../openapi/index.ts'
import { apiKeys, securityRules } from '../openapi/security.ts'
import { type Rules, requireOptions } from '../options.ts'
import { abandonBody, readNodeBody, readNodeHeader, toReadable } from './node-body.ts'
import { type RefusedBodies, toRefusedBody } from './refused-body.ts'

/** Options of {@link domainsPlugin}, beside Fastify's own `prefix`. */
export type DomainsPluginOptions = HandlerOptions<AdapterRequest<FastifyRequest>> &
  PathOption &
  /** What `@fastify/swagger` shows; with `authenticate`, nothing by default. */
  Pick<OpenApiOptions, 'security' | 'securitySchemes'>

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
  ...securityRules,
  prefix: ofFastify,
  logLevel: ofFastify,
  logSerializers: ofFastify,
}

/**
 * Answers `POST /v1/domains` in a Fastify 4 or 5 application. The plugin is encapsulated: your content type parsers,
 * error handler and other routes stay as they are, and your hooks run as for your own routes. Fastify's `prefix` goes
 * before our `path`.
 *
 * If `@fastify/swagger` is registered first, its OpenAPI document holds the operation as {@link openapi} describes it.
 * With `authenticate`, say by `security` and `securitySchemes` how your callers prove who they are.
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

  async function answer(
    operation: OperationName,
    raw: FastifyRequest,
    reply: FastifyReply,
    readBody: HandlerRequest['readBody'],
  ) {
    const query = readQuery(raw.url)
    const call = { header: (name: string) => readNodeHeader(raw.raw, name), readBody, raw, operation, query }
    const { status, headers, body, stream } = await handle(call)
    if (reply.sent) return reply
    abandonBody(raw.raw, reply.raw, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    return reply
      .code(status)
      .headers(headers)
      .send(stream ? toReadable(stream) : body)
  }

  const streams = new WeakMap<FastifyRequest, IncomingMessage>()
  for (const operation of options.operations ?? DEFAULT_OPERATIONS) {
    const { method, suffix } = operations[operation]
    const config: object = app.hasDecorator('swagger')
      ? { swaggerTransform: describeOperation(operation, options) }
      : {}
    app.register(
      async route => {
        route.removeAllContentTypeParsers()
        // Nothing is read before the caller is known to be allowed. Until then, and after, `request.body` is undefined.
        route.addContentTypeParser('*', (request, stream, done) => {
          streams.set(request, stream)
          done(null, undefined)
        })
        route.setErrorHandler((error: FastifyError, request, reply) => {
          const readBody = toRefusedBody(refusedBodies, error.code)
          if (!readBody) throw error
          return answer(operation, request, reply, readBody)
        })
        // Below a prefix, a route `/` matches with and without a trailing slash, whatever `ignoreTrailingSlash` is.
        route.route({
          method,
          url: '/',
          config,
          // The answer to HEAD would be that to GET, which reads a page for nothing.
          ...(method === 'GET' && { exposeHeadRoute: false }),
          handler: (request, reply) =>
            answer(operation, request, reply, limit => readNodeBody(streams.get(request) ?? request.raw, limit)),
        })
      },
      { prefix: `${toPath(options)}${suffix}` },
    )
  }
}

/** What a transformation of a route gets from `@fastify/swagger`: `openapiObject` unless it writes Swagger 2. */
interface Transformation {
  readonly url: string
  readonly openapiObject?: {
    tags?: readonly { readonly name: string }[]
    paths: Record<string, object>
    components: { schemas: Record<string, unknown>; securitySchemes?: Record<string, unknown> }
  }
}

/**
 * Puts the operation into the document of `@fastify/swagger` as it stands in ours, and hides the route, which would
 * stand there without its components and the examples.
 */
function describeOperation(
  name: OperationName,
  { keyPrefix, bodyLimit, rateLimiter, keys, operations: offered, ...options }: DomainsPluginOptions,
) {
  const { method, suffix } = operations[name]
  const { security = keys ? undefined : [] } = options
  const { securitySchemes = security ? undefined : apiKeys(keyPrefix, offered) } = options
  return ({ url, openapiObject }: Transformation) => {
    if (openapiObject) {
      const path = withoutTrailingSlash(url) || '/'
      const { paths, components, tags } = withoutTakenNames(
        openapi({
          path: path.slice(0, path.length - suffix.length) || '/',
          operations: [name],
          keyPrefix,
          bodyLimit,
          rateLimited: rateLimiter !== undefined,
          security,
          securitySchemes,
        }),
        openapiObject.components.schemas,
      )
      const operations: Readonly<Record<string, Record<string, { responses: Record<number, unknown> }>>> = paths
      const described = operations[path]?.[method.toLowerCase()]
      delete described?.responses[405]
      openapiObject.paths[path] = { ...openapiObject.paths[path], [method.toLowerCase()]: described ?? {} }
      const otherTags = (openapiObject.tags ?? []).filter(({ name }) => tags.every(tag => tag.name !== name))
      openapiObject.tags = [...otherTags, ...tags]
      Object.assign(openapiObject.components.schemas, components.schemas)
      openapiObject.components.securitySchemes = {
        ...components.securitySchemes,
        ...openapiObject.components.securitySchemes,
      }
    }
    return { schema: { hide: true }, url }
  }
}

/** A schema of yours that has the name of one of ours keeps it. */
function withoutTakenNames(
  document: OpenApiDocument<string>,
  yours: Readonly<Record<string, unknown>>,
): typeof document {
  let text = JSON.stringify(document)
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (!Object.hasOwn(yours, name) || JSON.stringify(yours[name]) === JSON.stringify(schema)) continue
    text = text
      .replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/Domains${name}"`)
      .replace(`"${name}":{`, `"Domains${name}":{`)
  }
  return JSON.parse(text)
}

const pickHandlerOptions = (options: DomainsPluginOptions) =>
  Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(handlerRules, name)),
  ) as unknown as DomainsPluginOptions

function logFailure(error: unknown, { request, step }: FailureContext<AdapterRequest<FastifyRequest>>): void {
  try {
    const { log } = request.raw
    if (isNoLogger(log)) logFailureToConsole(error, { step })
    else log.error({ err: error }, describeFailure(step))
  } catch {
    // pino marks an error to find circles, and so cannot log one that is frozen.
    logFailureToConsole(error, { step })
  }
}

/** Without a logger, Fastify hands out one that does nothing. A logger that is switched off has a level. */
const isNoLogger = (log: FastifyRequest['log']): boolean => log.level === undefined && log.error === log.trace
