import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { createHandler, type HandlerOptions } from './handler.ts'
import { abandonBody, readNodeBody } from './node-body.ts'
import { type PathOption, toPath, withoutTrailingSlash } from './path.ts'
import { type Refusals, toRefusedBody } from './refusal.ts'
import { DEFAULT_BODY_TIME_LIMIT, type HandlerRequest } from './request.ts'

export type DomainsRouterOptions = HandlerOptions & PathOption

/** By the `type` of the error; see the list of errors in the documentation of `body-parser`. */
const refusals: Refusals = {
  'entity.parse.failed': 'invalid_request',
  'request.size.invalid': 'invalid_request',
  'request.aborted': 'invalid_request',
  'entity.too.large': 'payload_too_large',
  'charset.unsupported': 'unsupported_media_type',
  'encoding.unsupported': 'unsupported_media_type',
}

/**
 * Makes what answers `POST /v1/domains` in an Express 4 or 5 application. Other methods and paths fall through to the
 * host. It works before and after the host's `express.json()`, and brings its own body limit.
 *
 * It is a pair of handlers, to be mounted as one: the second answers, in our error shape, what the host's body parser
 * refuses on our path. Any other error goes on to the host's error handler.
 *
 * @example
 * app.use(domainsRouter({ store, keys }))
 */
export function domainsRouter(options: DomainsRouterOptions): [RequestHandler, ErrorRequestHandler] {
  const handle = createHandler(options)
  const path = toPath(options)
  const isOurs = (request: Request) => request.method === 'POST' && withoutTrailingSlash(request.path) === path

  async function answer(request: Request, response: Response, readBody: HandlerRequest['readBody']): Promise<void> {
    const { status, headers, body } = await handle({ header: name => request.get(name), readBody })
    if (response.headersSent || response.destroyed) return
    abandonBody(request, response, status, options.bodyTimeLimit ?? DEFAULT_BODY_TIME_LIMIT)
    response
      .status(status)
      .setHeaders(new Map(Object.entries(headers)))
      .end(body)
  }

  return [
    (request, response, next) => {
      if (isOurs(request)) answer(request, response, limit => readNodeBody(request, limit)).catch(next)
      else next()
    },
    (error, request, response, next) => {
      const readBody = isOurs(request) ? toRefusedBody(refusals, kindOf(error)) : null
      if (readBody) answer(request, response, readBody).catch(next)
      else next(error)
    },
  ]
}

/** A compressed body that cannot be unpacked is told by the `code` of zlib or Brotli. */
const kindOf = (error: { type?: unknown; code?: unknown } | null | undefined) =>
  /^(?:Z_|ERR__)/.test(String(error?.code)) ? 'encoding.unsupported' : error?.type
