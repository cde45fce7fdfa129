import type { Application, ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { requireOptions } from '../options.ts'
import { DEFAULT_BODY_TIME_LIMIT } from './defaults.ts'
import { createHandler } from './handler.ts'
import { abandonBody, readNodeBody } from './node-body.ts'
import {
  type HandlerOptions,
  handlerRules,
  type PathOption,
  pathRule,
  toPath,
  withoutTrailingSlash,
} from './options.ts'
import { type Refusals, toRefusedBody } from './refusal.ts'
import {
  type AdapterRequest,
  bodyCutShort,
  bodyTooLarge,
  bodyWithoutItsLength,
  type HandlerRequest,
  notInUtf8,
  notJson,
  notPlain,
} from './request.ts'

/** What {@link domainsRouter} takes. */
export interface DomainsRouterOptions extends HandlerOptions<AdapterRequest<Request>>, PathOption {}

/** What {@link domainsRouter} makes: a request handler, to be mounted like any other. */
export interface DomainsRouter extends RequestHandler {
  /**
   * Answers, in our error shape, what a body parser of the host's refused on our path. `app.use(router)` mounts it
   * along with the router. On an `express.Router` with a body parser of its own, and where a framework wraps its
   * middleware, mount it behind: `router.use(domains, domains.handleError)`.
   */
  readonly handleError: ErrorRequestHandler
}

/** By the `type` of the error; see the list of errors in the documentation of `body-parser`. */
const refusals: Refusals = {
  'entity.parse.failed': notJson,
  'request.size.invalid': bodyWithoutItsLength,
  'request.aborted': bodyCutShort,
  'entity.too.large': bodyTooLarge,
  'charset.unsupported': notInUtf8,
  'encoding.unsupported': notPlain,
}

/**
 * Makes what answers `POST /v1/domains` in an Express 4 or 5 application. Other methods and paths fall through to the
 * host. It works before and after the host's `express.json()`, and brings its own body limit.
 *
 * What the host's body parser refuses on our path is answered in our error shape. Any other error goes on to the host's
 * error handler.
 *
 * @throws {TypeError} for an option that is missing, wrong or does not exist; it says what to pass instead.
 *
 * @example
 * app.use(domainsRouter({ store, keys }))
 *
 * @example
 * // With a session of the host's own, such as Passport's, in place of API keys.
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
  const isOurs = (request: Request) => request.method === 'POST' && withoutTrailingSlash(request.path) === path

  async function answer(raw: Request, response: Response, readBody: HandlerRequest['readBody']): Promise<void> {
    const { status, headers, body } = await handle({ header: name => raw.get(name), readBody, raw })
    if (response.headersSent || response.destroyed) return
    abandonBody(raw, response, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    response
      .status(status)
      .setHeaders(new Map(Object.entries(headers)))
      .end(body)
  }

  const handleRequest: RequestHandler = (request, response, next) => {
    if (isOurs(request)) answer(request, response, limit => readNodeBody(request, limit)).catch(next)
    else next()
  }
  const handleError: ErrorRequestHandler = (error, request, response, next) => {
    const readBody = isOurs(request) ? toRefusedBody(refusals, kindOf(error)) : null
    if (readBody) answer(request, response, readBody).catch(next)
    else next(error)
  }
  return mountBoth(handleRequest, handleError)
}

/** A compressed body that cannot be unpacked is told by the `code` of zlib or Brotli. */
const kindOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type

/**
 * Makes two handlers one. Express calls a function of three parameters for requests and one of four for errors, and
 * none for both. But a function with the methods `handle` and `set` is to `app.use` an application of its own, which it
 * tells with the event `mount` where it was mounted (https://expressjs.com/en/5x/api.html#app.onmount): we mount the
 * other one there.
 */
function mountBoth(handleRequest: RequestHandler, handleError: ErrorRequestHandler): DomainsRouter {
  const router: DomainsRouter & { mountpath?: string | string[] } = Object.assign(handleRequest, {
    handleError,
    handle: handleRequest,
    set() {},
    emit(_event: 'mount', parent: Application) {
      parent.use(router.mountpath ?? '/', handleError)
    },
  })
  return router
}
