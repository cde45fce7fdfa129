import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Request } from 'express'
import {
  bodyCutShort,
  bodyWithoutItsLength,
  notInUtf8,
  notJson,
  notPlain,
  payloadTooLarge,
} from '../errors/call-errors.ts'
import { mountOnNode, type RejectedBodies, toRejectedBody } from './node.ts'
import type { HandlerOptions, PathOption } from './options.ts'
import type { AdapterRequest } from './request.ts'

/** Options of {@link domainsRouter}. */
export type DomainsRouterOptions = HandlerOptions<AdapterRequest<Request>> & PathOption

/**
 * The two functions that {@link domainsRouter} returns, in an array that `app.use` and `router.use` accept. The second
 * function is an error handler: it responds if an earlier body parser has rejected a body.
 *
 * The first function uses nothing that only Express has, so any framework with Node's requests can call it: connect,
 * Vite, middie, polka, restify, or h3 with `fromNodeMiddleware`. Then `raw` is Node's own request.
 */
export type DomainsRouter = [handleRequest: NodeMiddleware, handleError: ErrorRequestHandler]

/** Middleware for Node's own requests, as connect and Express call it. */
type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/** Our errors, keyed by the `type` of the parser's error. The documentation of `body-parser` lists all types. */
const rejectedBodies: RejectedBodies = {
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
 * If your body parser rejects the body of a POST on our path, the response is our own error. Any other error goes to
 * your error handler.
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
  const { route, respond } = mountOnNode(options)

  // Traces show these names.
  return [
    function domainsRouter(request, response, next) {
      const operation = route(request)
      if (operation) respond({ operation, raw: request as Request, request, response }).catch(next)
      else next()
    },
    function domainsRouterError(error, request, response, next) {
      const operation = route(request)
      const readBody = operation && toRejectedBody(operation, rejectedBodies, reasonOf(error))
      if (readBody) respond({ operation, raw: request, request, response, readBody }).catch(next)
      else next(error)
    },
  ]
}

/** If a compressed body cannot be decompressed, the error has a `code` from zlib or Brotli. */
const reasonOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type
