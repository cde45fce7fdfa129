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

/** Options of {@link domainsRouter}. */
export interface DomainsRouterOptions extends HandlerOptions<AdapterRequest<Request>>, PathOption {}

/** The request handler that {@link domainsRouter} makes. Mount it like any other. */
export interface DomainsRouter extends RequestHandler {
  /**
   * Answers what a body parser of the host refuses on our path, with our error body. `app.use(router)` mounts it along
   * with the router. On an `express.Router` with a body parser of its own, or in a framework that wraps its middleware,
   * mount it after the router: `router.use(domains, domains.handleError)`.
   */
  readonly handleError: ErrorRequestHandler
}

/** By the `type` of the error; the documentation of `body-parser` lists them. */
const refusals: Refusals = {
  'entity.parse.failed': notJson,
  'request.size.invalid': bodyWithoutItsLength,
  'request.aborted': bodyCutShort,
  'entity.too.large': bodyTooLarge,
  'charset.unsupported': notInUtf8,
  'encoding.unsupported': notPlain,
}

/**
 * Makes a request handler that answers `POST /v1/domains` in an Express 4 or 5 application. Other methods and paths
 * fall through to the host. It works before and after `express.json()` of the host, and has a body limit of its own.
 *
 * What a body parser of the host refuses on our path is answered with our error body. Any other error goes on to the
 * host's error handler.
 *
 * @throws {TypeError} for an option that is missing, wrong or does not exist; it says what to pass instead.
 *
 * @example
 * app.use(domainsRouter({ store, keys }))
 *
 * @example <caption>With sessions of the host, such as Passport's, instead of API keys</caption>
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

/** A compressed body that cannot be unpacked has the `code` of zlib or Brotli. */
const kindOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type

/**
 * Joins two handlers in one. Express calls a function of three parameters for requests and one of four for errors, and
 * no function for both. But `app.use` takes a function with the methods `handle` and `set` for an application, and
 * emits the event `mount` with its parent (https://expressjs.com/en/5x/api.html#app.onmount). There we mount the error
 * handler.
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
