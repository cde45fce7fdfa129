import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import {
  bodyCutShort,
  bodyWithoutItsLength,
  notInUtf8,
  notJson,
  notPlain,
  payloadTooLarge,
} from '../errors/call-errors.ts'
import { mountOnNode } from './mount-on-node.ts'
import { writeStream } from './node-body.ts'
import type { HandlerOptions, PathOption } from './options.ts'
import { type RefusedBodies, toRefusedBody } from './refused-body.ts'
import type { AdapterRequest, HandlerRequest, OperationName } from './request.ts'

/** Options of {@link domainsRouter}. */
export type DomainsRouterOptions = HandlerOptions<AdapterRequest<Request>> & PathOption

/**
 * The two functions that {@link domainsRouter} returns, in an array that `app.use` and `router.use` accept. The second
 * function is an error handler: it responds if an earlier body parser has rejected a body. If a framework takes only
 * one function, pass the first.
 */
export type DomainsRouter = [handleRequest: RequestHandler, handleError: ErrorRequestHandler]

/** Our errors, keyed by the `type` of the parser's error. The documentation of `body-parser` lists all types. */
const refusedBodies: RefusedBodies = {
  'entity.parse.failed': () => notJson(),
  'request.size.invalid': bodyWithoutItsLength,
  'request.aborted': bodyCutShort,
  'entity.too.large': () => payloadTooLarge(),
  'charset.unsupported': notInUtf8,
  'encoding.unsupported': notPlain,
}

/**
 * Creates the middleware that handles `POST /v1/domains` in an Express 4 or 5 application. Requests with other methods
 * and paths fall through to your own routes. The middleware works both before and after your `express.json()`, and has
 * its own body limit.
 *
 * If your body parser rejects a body on our path, the response is our own error. Any other error goes to your error
 * handler.
 *
 * @returns A request handler and an error handler, for `app.use`.
 * @throws {TypeError} if an option is missing, invalid or unknown; the message says what to pass instead.
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
  const { route, handle } = mountOnNode(options)
  // Express finds no path in a target such as `http:///v1`, so `request.path` is then missing.
  const operationOf = (request: Request) => route(request.method, request.path ?? '')

  async function respond(
    operation: OperationName,
    request: Request,
    response: Response,
    readBody?: HandlerRequest['readBody'],
  ): Promise<void> {
    const handled = await handle({ operation, raw: request, request, response, readBody })
    if (!handled) return
    response.status(handled.status)
    // Sets each header separately, because responses over HTTP/2 have no `setHeaders`.
    for (const [name, value] of Object.entries(handled.headers)) response.setHeader(name, value)
    if (handled.stream) writeStream(handled.stream, response)
    else response.end(handled.body)
  }

  return [
    (request, response, next) => {
      const operation = operationOf(request)
      if (operation) respond(operation, request, response).catch(next)
      else next()
    },
    (error, request, response, next) => {
      const operation = operationOf(request)
      const readBody = operation && toRefusedBody(refusedBodies, refusalOf(error))
      if (readBody) respond(operation, request, response, readBody).catch(next)
      else next(error)
    },
  ]
}

/** If a compressed body cannot be decompressed, the error has a `code` from zlib or Brotli. */
const refusalOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type
