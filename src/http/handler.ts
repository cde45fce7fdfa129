import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { ApiError, isApiError } from '../errors.ts'
import { findKeyRecord, toKeyContext } from '../keys/authenticate.ts'
import { type KeyContext, requireScope } from '../keys/key-context.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { registerDomains } from '../register-domains.ts'
import type { DomainStore } from '../registry/store.ts'
import { consumeRateLimit, type RateLimiter } from './rate-limit.ts'
import { type HandlerRequest, readJson } from './request.ts'
import { type HandlerResponse, respond, respondWithError } from './response.ts'

export type { RateLimiter, RateLimiterResult } from './rate-limit.ts'
export type { HandlerRequest, RequestBody } from './request.ts'
export type { HandlerResponse } from './response.ts'

interface CommonOptions {
  store: DomainStore
  /** The word that API keys begin with. Default `svc`. */
  keyPrefix?: string
  /** Called with one point for each authenticated call, keyed by API key. Default: no limit. */
  rateLimiter?: RateLimiter
  /** Bytes in a request body. Default 262,144, which holds 100 hostnames of any length. */
  bodyLimit?: number
  /** Milliseconds that a call may wait for the stores. Default 30,000. */
  timeLimit?: number
  /**
   * Learns what went wrong inside, once for each failure: the cause of an `internal_error` and of a 503. For logs; the
   * caller is not told. What it throws is ignored.
   */
  onError?: (error: unknown) => void
}

/** What every adapter takes. Either `keys`, or a way of the host's own to tell who is calling. */
export type HandlerOptions = CommonOptions &
  (
    | { keys: KeyStore; authenticate?: never }
    | {
        /** Returns who is calling, or throws an {@link ApiError}: `new ApiError('unauthorized', …)`. */
        authenticate: (request: HandlerRequest) => Awaitable<KeyContext>
        keys?: never
      }
  )

const DEFAULT_BODY_LIMIT = 256 * 1024
const DEFAULT_TIME_LIMIT = 30_000

/**
 * Makes the request handler that all adapters share: `POST /v1/domains` from header fields and body to status, header
 * fields and body, with no framework. Which method and path lead to it is the adapter's business.
 *
 * Checks in this order: 401, 429, 403 `insufficient_scope`, 415, 413, 400, 404, 403 `team_suspended`; then the work. The
 * body is not read before the caller is known to be allowed.
 *
 * @returns Never rejects.
 *
 * @example
 * const handle = createHandler({ store, keys })
 * const { status, headers, body } = await handle({
 *   header: name => request.headers[name],
 *   readBody: () => ({ json: request.body }),
 * })
 */
export function createHandler(options: HandlerOptions): (request: HandlerRequest) => Promise<HandlerResponse> {
  const { store, rateLimiter, bodyLimit = DEFAULT_BODY_LIMIT, timeLimit = DEFAULT_TIME_LIMIT } = options
  const onError = (error: unknown) => {
    try {
      options.onError?.(error)
    } catch {
      // Reporting a failure must not become one.
    }
  }

  return async request => {
    const headers: Record<string, string> = {}
    try {
      const deadline = createDeadline(timeLimit)
      const { keyContext, limiterKey } = await identify(request, options, deadline)
      if (rateLimiter) Object.assign(headers, await deadline.wait(consumeRateLimit(rateLimiter, limiterKey)))
      requireScope(keyContext)
      const body = await readJson(request, bodyLimit)
      return respond(200, await registerDomains(keyContext, body, store, { onError, timeLimit }), headers)
    } catch (error) {
      const apiError = isApiError(error) ? error : internalError(error)
      if (apiError.status >= 500) onError(apiError.cause ?? apiError)
      return respondWithError(apiError, headers)
    }
  }
}

async function identify(
  request: HandlerRequest,
  { keys, authenticate, keyPrefix }: HandlerOptions,
  deadline: Deadline,
): Promise<{ keyContext: KeyContext; limiterKey: string }> {
  if (authenticate) {
    const keyContext = await deadline.wait(authenticate(request))
    const owner = keyContext.type === 'organization' ? keyContext.organizationId : keyContext.teamId
    return { keyContext, limiterKey: `${keyContext.type}:${owner}` }
  }
  const prefix = keyPrefix === undefined ? {} : { prefix: keyPrefix }
  const record = await deadline.wait(findKeyRecord(request.header('authorization'), keys, prefix))
  return { keyContext: toKeyContext(record), limiterKey: record.hash }
}

function internalError(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The call could not be processed. Try again later.', { cause })
}
