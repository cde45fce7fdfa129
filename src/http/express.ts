import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { ApiError } from '../errors.ts'
import { createHandler, type HandlerOptions } from './handler.ts'
import { readNodeBody } from './node-body.ts'
import type { HandlerRequest } from './request.ts'

export type DomainsRouterOptions = HandlerOptions & {
  /** The path below where the router is mounted. With and without a trailing slash. Default `/v1/domains`. */
  path?: string
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
  const path = withoutTrailingSlash(options.path ?? '/v1/domains')
  const isOurs = (request: Request) => request.method === 'POST' && withoutTrailingSlash(request.path) === path

  async function answer(request: Request, response: Response, readBody: HandlerRequest['readBody']): Promise<void> {
    const { status, headers, body } = await handle({ header: name => request.get(name), readBody })
    if (response.headersSent || response.destroyed) return
    // The rest of a body that is too large is not read, so the connection is of no further use.
    if (status === 413 && !request.complete) response.setHeader('Connection', 'close')
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
      const refusal = isOurs(request) ? toRefusal(error) : null
      if (!refusal) return next(error)
      answer(request, response, () => {
        throw refusal
      }).catch(next)
    },
  ]
}

const withoutTrailingSlash = (path: string) => path.replace(/\/$/, '')

/**
 * Errors of Express's body parsers carry a `type`; see the list of errors in the documentation of `body-parser`. Those of
 * a compressed body that cannot be unpacked carry the `code` of zlib or Brotli.
 */
function toRefusal(error: { type?: unknown; code?: unknown } | null | undefined): ApiError | null {
  const isCompression = /^(?:Z_|ERR__)/.test(String(error?.code))
  switch (isCompression ? 'encoding.unsupported' : error?.type) {
    case 'entity.parse.failed':
    case 'request.size.invalid':
    case 'request.aborted':
      return new ApiError(
        'invalid_request',
        'The request body is not valid JSON; send {"domains": ["www.example.com"]}.',
      )
    case 'entity.too.large':
      return new ApiError('payload_too_large', 'The request body is larger than allowed.')
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new ApiError('unsupported_media_type', 'The request body must be JSON in UTF-8, not compressed.')
    default:
      return null
  }
}
