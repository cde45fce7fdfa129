import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import {
  bodyCutShort,
  bodyWithoutItsLength,
  notInUtf8,
  notJson,
  notPlain,
  payloadTooLarge,
} from '../errors/call-errors.ts'
import { createHandler } from '../http/handler.ts'
import { findOperation } from '../http/operations.ts'
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
import { type AdapterRequest, type HandlerRequest, readQuery } from '../http/request.ts'
import { requireOptions } from '../options.ts'
import { abandonBody, readNodeBody, readNodeHeader, writeStream } from './node-body.ts'
import { type RefusedBodies, toRefusedBody } from './refused-body.ts'

/** Options of {@link domainsRouter}. */
export type DomainsRouterOptions = HandlerOptions<AdapterRequest<Request>> & PathOption

/**
 * What {@link domainsRouter} makes. `app.use` and `router.use` take both at once. Where a framework takes single
 * functions, the first alone is enough; the second answers what a body parser in front of it has refused.
 */
export type DomainsRouter = [handleRequest: RequestHandler, handleError: ErrorRequestHandler]

/** By the `type` of the error; the documentation of `body-parser` lists them. */
const refusedBodies: RefusedBodies = {
  'entity.parse.failed': () => notJson(),
  'request.size.invalid': bodyWithoutItsLength,
  'request.aborted': bodyCutShort,
  'entity.too.large': () => payloadTooLarge(),
  'charset.unsupported': notInUtf8,
  'encoding.unsupported': notPlain,
}

/**
 * Makes the middleware that answers `POST /v1/domains` in an Express 4 or 5 application. Other methods and paths fall
 * through to your own. It works before and after your `express.json()`, and has a body limit of its own.
 *
 * What your body parser refuses on our path is answered with our error body. Any other error goes on to your error
 * handler.
 *
 * @returns A request handler and an error handler, for `app.use`.
 * @throws {TypeError} for an option that is missing, wrong or does not exist; it says what to pass instead.
 *
 * @example
 * app.use(domainsRouter({ store, keys }))
 *
 * @example <caption>With your own sessions, such as Passport's, instead of API keys</caption>
 * app.use(
 *   passport.session(),
 *   domainsRouter({
 *     store,
 *     authenticate({ raw }) {
 *       if (!raw.user) throw new ApiError('unauthorized', 'Log in first.')
 *       return { type: 'team', teamId: raw.user.teamId, scopes: ['domains:create'] }
 *     },
 *   }),
 * )
 */
export function domainsRouter(options: DomainsRouterOptions): DomainsRouter {
  requireOptions(options, { ...handlerRules, path: pathRule })
  const { path: _, ...handlerOptions } = options
  const handle = createHandler(handlerOptions)
  const path = toPath(options)
  const offered = options.operations ?? DEFAULT_OPERATIONS
  const operationOf = (request: Request) =>
    // Express finds no path in a target such as `http:///v1`.
    findOperation(offered, path, request.method, withoutTrailingSlash(request.path ?? ''))

  async function answer(raw: Request, response: Response, readBody: HandlerRequest['readBody']): Promise<void> {
    const query = readQuery(raw.url)
    const call = {
      header: (name: string) => readNodeHeader(raw, name),
      readBody,
      raw,
      operation: operationOf(raw),
      query,
    }
    const { status, headers, body, stream } = await handle(call)
    if (response.headersSent || response.destroyed) return
    abandonBody(raw, response, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    response.status(status).setHeaders(new Map(Object.entries(headers)))
    if (stream) writeStream(stream, response)
    else response.end(body)
  }

  return [
    (request, response, next) => {
      if (operationOf(request)) answer(request, response, limit => readNodeBody(request, limit)).catch(next)
      else next()
    },
    (error, request, response, next) => {
      const readBody = operationOf(request) ? toRefusedBody(refusedBodies, kindOf(error)) : null
      if (readBody) answer(request, response, readBody).catch(next)
      else next(error)
    },
  ]
}

/** A compressed body that cannot be unpacked has the `code` of zlib or Brotli. */
const kindOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type
