import type { Awaitable } from '../awaitable.ts'
import { createDeadline, type Deadline } from '../deadline.ts'
import { ApiError, isApiError, requireSendable } from '../errors.ts'
import { findKeyRecord, toKeyContext } from '../keys/authenticate.ts'
import { type KeyContext, requireScope } from '../keys/key-context.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { registerDomains } from '../register-domains.ts'
import type { DomainStore } from '../registry/store.ts'
import { requireOptions } from './options.ts'
import { consumeRateLimit, type RateLimiter, type RateLimiterFailure } from './rate-limit.ts'
import { DEFAULT_BODY_LIMIT, DEFAULT_BODY_TIME_LIMIT, type HandlerRequest, readField, readJson } from './request.ts'
import { type HandlerResponse, respond, respondWithError } from './response.ts'

export type { RateLimiter, RateLimiterFailure, RateLimiterResult } from './rate-limit.ts'
export type { HandlerRequest, RequestBody } from './request.ts'
export type { HandlerResponse } from './response.ts'

interface CommonOptions {
  store: DomainStore
  /** The word that API keys begin with. Default `svc`. */
  keyPrefix?: string
  /** Called with one point for each authenticated call, keyed by API key. Default: no limit. */
  rateLimiter?: RateLimiter
  /**
   * Whether a call whose rate limit could not be checked is refused with 500 `internal_error`, or let through. Default
   * `refuse`: a limit that cannot be checked must not be passed. A limiter that does not answer counts as failed after the
   * time limit; to learn of it sooner, give the limiter a time limit of its own.
   */
  rateLimiterFailure?: RateLimiterFailure
  /** Bytes in a request body. Default 262,144, which holds 100 hostnames of any length. */
  bodyLimit?: number
  /**
   * Milliseconds for the request body to come, at most 2,147,483,647. Default 10,000. Later, the call is answered 408
   * `request_timeout` and the connection is closed. A body that a parser of the host's reads is not ours to wait for.
   */
  bodyTimeLimit?: number | undefined
  /**
   * Milliseconds that a call may wait, at most 2,147,483,647: for the key store and the limiter together, and after that
   * for the store. Default 30,000.
   */
  timeLimit?: number
  /**
   * Learns what went wrong inside, once for each failure: the cause of an `internal_error`, of a 503, and of a rate limit
   * that could not be checked. For logs; the
   * caller is not told. What it throws is ignored, and so is a promise of it that is rejected.
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

const DEFAULT_TIME_LIMIT = 30_000

/**
 * Makes the request handler that all adapters share: `POST /v1/domains` from header fields and body to status, header
 * fields and body, with no framework. Which method and path lead to it is the adapter's business.
 *
 * Checks in this order: 401, 429, 403 `insufficient_scope`, 415, 413, 408, 400, 404, 403 `team_suspended`; then the work. The
 * body is not read before the caller is known to be allowed.
 *
 * @returns Never rejects.
 * @throws {TypeError} for an option that is missing or wrong; it says what to pass instead.
 *
 * @example
 * const handle = createHandler({ store, keys })
 * const { status, headers, body } = await handle({
 *   header: name => request.headers.get(name),
 *   readBody: async () => ({ bytes: new Uint8Array(await request.arrayBuffer()) }),
 * })
 */
export function createHandler(options: HandlerOptions): (request: HandlerRequest) => Promise<HandlerResponse> {
  requireOptions(options)
  const { store, rateLimiter, timeLimit = DEFAULT_TIME_LIMIT } = options
  const { bodyLimit = DEFAULT_BODY_LIMIT, bodyTimeLimit = DEFAULT_BODY_TIME_LIMIT } = options
  const onError = async (error: unknown) => {
    try {
      await options.onError?.(error)
    } catch {
      // Reporting a failure must not become one: a rejected promise that nobody holds would end the process.
    }
  }
  const rateLimit = rateLimiter && { limiter: rateLimiter, failure: options.rateLimiterFailure ?? 'refuse', onError }

  return async request => {
    const headers: Record<string, string> = {}
    try {
      const deadline = createDeadline(timeLimit)
      const { keyContext, limiterKey } = await identify(request, options, deadline)
      if (rateLimit) Object.assign(headers, await consumeRateLimit(rateLimit, limiterKey, deadline))
      requireScope(keyContext)
      const body = await readJson(request, { bodyLimit, bodyTimeLimit })
      return respond(200, await registerDomains(keyContext, body, store, { onError, timeLimit }), headers)
    } catch (error) {
      const apiError = toApiError(error)
      if (apiError.status >= 500) void onError(apiError.cause ?? apiError)
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
  const record = await deadline.wait(findKeyRecord(readField(request, 'authorization'), keys, prefix))
  return { keyContext: toKeyContext(record), limiterKey: record.hash }
}

/** What was thrown, if it can be answered as it stands. Anything may be thrown: by the host's check, by a store. */
function toApiError(error: unknown): ApiError {
  try {
    if (!isApiError(error)) return internalError(error)
    requireSendable(error)
    return error
  } catch (cause) {
    return internalError(cause)
  }
}

function internalError(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The call could not be processed. Try again later.', { cause })
}
