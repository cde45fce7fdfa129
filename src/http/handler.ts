import { type ApiError, isApiError, requireSendable } from '../errors/api-error.ts'
import { internalError, unauthorized } from '../errors/call-errors.ts'
import { ignoreErrors } from '../errors/ignore-errors.ts'
import { findKeyRecord, toKeyContext } from '../keys/authenticate.ts'
import { type KeyContext, requireKeyContext, requireScope } from '../keys/key-context.ts'
import type { CallingKey } from '../keys/key-record.ts'
import type { CallProgress } from '../operations/call.ts'
import { requireOptions } from '../options.ts'
import { CALL_TIME_LIMIT, createDeadline, type Deadline } from '../time/deadline.ts'
import { MAX_DOMAINS } from '../wire/schemas.ts'
import { guardExport } from './export.ts'
import { createDefaultOnError, type Step } from './failure.ts'
import {
  DEFAULT_BODY_LIMIT,
  DEFAULT_BODY_TIME_LIMIT,
  DEFAULT_OPERATIONS,
  type HandlerOptions,
  type HandlerSettings,
  handlerRules,
  type ResultContext,
  requireOffer,
} from './options.ts'
import { createRateLimit } from './rate-limit.ts'
import { type HandlerRequest, type OperationName, readHeader, readJson } from './request.ts'
import { type HandlerResponse, respond, respondWithError } from './response.ts'
import { operations } from './routes.ts'

/**
 * Creates the request handler that all adapters share. The handler does not depend on a framework: it takes the headers
 * and the body of a request, and returns the status, headers and body of a response. The adapter finds the operation by
 * the method and path of the request.
 *
 * The handler checks in this order: 401, 429, 403 `insufficient_scope`, 415, 413, 408, 400, 404, 403 `team_suspended`,
 * 403 `domain_limit_reached`. The handler reads the body only once it knows that the caller is allowed. After a 408 or
 * a 413, part of the body may still arrive: close the connection.
 *
 * @returns The handler. It never rejects.
 * @throws {TypeError} if an option is missing, invalid or unknown; the message says what to pass instead.
 *
 * @example
 * const handle = createHandler({ store, keys })
 *
 * async function answer(request: Request): Promise<Response> {
 *   const { status, headers, body } = await handle({
 *     header: name => request.headers.get(name),
 *     readBody: limit => readBody(request, limit),
 *   })
 *   return new Response(body, { status, headers })
 * }
 *
 * async function readBody(request: Request, limit: number) {
 *   const chunks: Uint8Array[] = []
 *   let length = 0
 *   for await (const chunk of request.body ?? []) {
 *     length += chunk.byteLength
 *     if (length > limit) throw new ApiError('payload_too_large', `Send at most ${limit} bytes.`)
 *     chunks.push(chunk)
 * }
 *   return { bytes: Buffer.concat(chunks) }
 * }
 */
export function createHandler<Request extends HandlerRequest = HandlerRequest>(
  options: HandlerOptions<Request>,
): (request: Request) => Promise<HandlerResponse> {
  requireOptions(options, handlerRules)
  requireOffer(options as HandlerSettings)
  const { store, keys, timeLimit = CALL_TIME_LIMIT } = options
  const { bodyLimit = DEFAULT_BODY_LIMIT, bodyTimeLimit = DEFAULT_BODY_TIME_LIMIT } = options
  const { onError = createDefaultOnError<Request>(), onResult } = options
  const limitRate = createRateLimit(options)

  return async request => {
    const startedAt = performance.now()
    const headers: Record<string, string> = {}
    let step: Step = 'authenticate'
    let caller: Caller | undefined
    let input: unknown
    const progress: CallProgress = {}
    const report = ignoreErrors((error: unknown, failed: Step) => {
      const { keyContext, key } = caller ?? {}
      const work = readWork(request, keyContext, input)
      return onError(error, { request, keyContext, key, step: failed, requestId: request.id, ...work })
    })
    const tell = ignoreErrors((status: 200 | 503, operation: OperationName, data: unknown) =>
      onResult?.({
        request,
        keyContext: caller?.keyContext,
        key: caller?.key,
        operation,
        status,
        data,
        duration: performance.now() - startedAt,
        requestId: request.id,
      } as ResultContext<Request>),
    )
    try {
      let deadline = createDeadline(timeLimit)
      caller = await identify(request, options, deadline)
      const { limiterKey } = caller
      const limit = async (points: number) => {
        step = 'consume'
        const call = { key: limiterKey, deadline, onError: (cause: unknown) => report(cause, 'consume') }
        Object.assign(headers, await limitRate(points, call))
      }
      await limit(1)
      const operation = requireOffered(request, options)
      const { scope, method, run } = operations[operation]
      requireScope(caller.keyContext, scope)
      step = 'readBody'
      const bodyAwaitedAt = performance.now()
      input = method === 'GET' ? request.query : await readJson(request, { bodyLimit, bodyTimeLimit })
      deadline = createDeadline(timeLimit)
      if (keys && performance.now() - bodyAwaitedAt > KEY_IS_CURRENT_FOR) {
        step = 'authenticate'
        caller = await identify(request, options, deadline)
        requireScope(caller.keyContext, scope)
      }
      if (options.rateLimitPer === 'name') await limit(countSubmitted(input) - 1)
      const registering = { timeLimit, onError: (cause: unknown) => report(cause, 'register') }
      const answer = await run({ keyContext: caller.keyContext, input, store, options: registering, progress })
      tell(200, operation, 'data' in answer ? answer.data : null)
      if ('data' in answer) return respond(200, answer, headers)
      const stream =
        answer.stream &&
        guardExport(answer.stream, {
          report,
          async requireCaller() {
            const again = await identify(request, options, createDeadline(timeLimit))
            requireScope(again.keyContext, scope)
            if (again.limiterKey !== limiterKey) throw unauthorized({ tokenSent: true })
          },
        })
      return { ...answer, headers: { ...answer.headers, ...headers }, ...(stream && { stream }) }
    } catch (error) {
      const apiError = toApiError(error)
      if (progress.saved) tell(503, 'create', progress.saved.data)
      if (apiError.status >= 500) report(apiError.cause ?? apiError, progress.step ?? step)
      return respondWithError(apiError, headers)
    }
  }
}

/**
 * Describes a call for the report of a failure: its team, and the number of its names. The input may be invalid, so the
 * team is included only if its ID is well formed.
 */
function readWork({ operation = 'create' }: HandlerRequest, keyContext: KeyContext | undefined, input: unknown) {
  const { domains, team_id: asked } = (input ?? {}) as { domains?: unknown; team_id?: unknown }
  const teamId = keyContext?.type === 'team' ? keyContext.teamId : asked
  return {
    operation,
    teamId: typeof teamId === 'string' && /^[0-9]{1,20}$/.test(teamId) ? teamId : undefined,
    count: Array.isArray(domains) ? domains.length : undefined,
  }
}

/** Rejects an operation that is not offered, which an application's own adapter may pass. */
function requireOffered<Request extends HandlerRequest>(
  { operation = 'create' }: Request,
  { operations: offered = DEFAULT_OPERATIONS }: HandlerOptions<Request>,
): OperationName {
  if (offered.includes(operation)) return operation
  throw new TypeError(`The operation ${JSON.stringify(operation)} is not in the option "operations"`)
}

/**
 * A key may be revoked while the body of its call arrives. If the body took longer than this many milliseconds, the key
 * is looked up again.
 */
const KEY_IS_CURRENT_FOR = 20

/** Counts the names in a body. Returns 1 for a body that will be rejected. */
function countSubmitted(body: unknown): number {
  const { domains } = (body ?? {}) as { domains?: unknown }
  return Array.isArray(domains) && domains.length > 0 && domains.length <= MAX_DOMAINS ? domains.length : 1
}

interface Caller {
  readonly keyContext: KeyContext
  /** The key of the call; `undefined` if the application passes its own `authenticate`. */
  readonly key: CallingKey | undefined
  /** The key under which the rate limiter counts the call. */
  readonly limiterKey: string
}

async function identify<Request extends HandlerRequest>(
  request: Request,
  { keys, authenticate, ...options }: HandlerOptions<Request>,
  deadline: Deadline,
): Promise<Caller> {
  if (keys) {
    // Ignores a prefix from a polluted Object.prototype.
    const prefix = Object.hasOwn(options, 'keyPrefix') ? options.keyPrefix : undefined
    const record = await deadline.wait(findKeyRecord(readHeader(request, 'authorization'), keys, { prefix }))
    const { hash, label = null, hint = null } = record
    return { keyContext: toKeyContext(record), key: { hash, label, hint }, limiterKey: hash }
  }
  const keyContext = await deadline.wait(authenticate(request))
  requireKeyContext(keyContext)
  const owner = keyContext.type === 'organization' ? keyContext.organizationId : keyContext.teamId
  return { keyContext, key: undefined, limiterKey: `${keyContext.type}:${owner}` }
}

/**
 * Returns the thrown error if it can be sent as a response, otherwise an `internal_error`. Your `authenticate` or a
 * store may throw any value.
 */
function toApiError(error: unknown): ApiError {
  try {
    if (!isApiError(error)) return internalError(undefined, error)
    requireSendable(error)
    return error
  } catch (cause) {
    return internalError(undefined, cause)
  }
}
