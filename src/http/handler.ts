import { type ApiError, isApiError, requireSendable } from '../errors/api-error.ts'
import { internalError, unauthorized } from '../errors/call-errors.ts'
import { ignoreErrors } from '../errors/failure-log.ts'
import { findKeyRecord, toKeyContext } from '../keys/authenticate.ts'
import { type KeyContext, requireKeyContext, requireScope } from '../keys/key-context.ts'
import type { CallingKey } from '../keys/key-record.ts'
import { type CallProgress, runOperation, startProgress } from '../operations/call.ts'
import { type Rules, requireOptions } from '../options.ts'
import { CALL_TIME_LIMIT, createDeadline, type Deadline } from '../time/deadline.ts'
import type { ListDomainsResponse } from '../wire/results.ts'
import { writeExport } from './export.ts'
import { type CallContext, createDefaultOnError, type Step } from './failure.ts'
import { consumePoint } from './limits.ts'
import {
  DEFAULT_BODY_LIMIT,
  DEFAULT_BODY_TIME_LIMIT,
  DEFAULT_OPERATIONS,
  DEFAULT_PAGE_TIME_LIMIT,
  DEFAULT_PATH,
  type HandlerOptions,
  type HandlerSettings,
  handlerRules,
  type PathOption,
  pathRule,
  type ResultContext,
  requireOffer,
  withoutTrailingSlash,
} from './options.ts'
import { type HandlerRequest, readHeader, readJson } from './request.ts'
import { type HandlerResponse, respond, respondWithError, respondWithStream } from './response.ts'
import { type HttpOperation, operations } from './routes.ts'

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
 *   }
 *   return { bytes: Buffer.concat(chunks) }
 * }
 */
export function createHandler<Request extends HandlerRequest = HandlerRequest>(
  options: HandlerOptions<Request>,
): (request: Request) => Promise<HandlerResponse> {
  requireOptions(options, handlerRules)
  return openHandler(options)
}

/** Like {@link createHandler}, for options that are checked already. */
function openHandler<Request extends HandlerRequest>(
  options: HandlerOptions<Request>,
): (request: Request) => Promise<HandlerResponse> {
  requireOffer(options as HandlerSettings)
  const { store, keys, rateLimiter, checkNames, claimRecord, waiting, timeLimit = CALL_TIME_LIMIT, onResult } = options
  const { bodyLimit = DEFAULT_BODY_LIMIT, bodyTimeLimit = DEFAULT_BODY_TIME_LIMIT } = options
  const { onError = createDefaultOnError<Request>() } = options

  return async request => {
    const call: Call<Request> = {
      request,
      startedAt: performance.now(),
      step: 'authenticate',
      headers: {},
      progress: startProgress(),
    }
    try {
      const deadline = createDeadline(timeLimit)
      call.caller = await identify(request, options, deadline) // 401
      if (rateLimiter) {
        call.step = 'consume'
        call.headers = await consumePoint(rateLimiter, call.caller.limiterKey, deadline) // 429
      }
      const operation = requireOffered(request)
      requireScope(call.caller.keyContext, operation.scope) // 403 insufficient_scope

      call.step = 'readBody'
      const awaitedAt = performance.now()
      if (operation.method === 'GET') call.input = request.query ?? {}
      else call.input = await readJson(request, { bodyLimit, bodyTimeLimit }) // 415, 413, 408, 400
      if (keys && performance.now() - awaitedAt > KEY_IS_CURRENT_FOR) {
        call.step = 'authenticate'
        call.caller = await identifyAgain(request, operation) // 401
      }
      return await perform(call, call.caller, operation) // 400, 404, 403 team_suspended, 403 domain_limit_reached
    } catch (error) {
      return fail(call, error)
    }
  }

  /** An application's own adapter may pass an operation that is not offered. */
  function requireOffered({ operation = 'create' }: Request): HttpOperation {
    const { operations: offered = DEFAULT_OPERATIONS } = options
    if (offered.includes(operation)) return operations[operation]
    throw new TypeError(`The operation ${JSON.stringify(operation)} is not in the option "operations"`)
  }

  /** A key may be revoked while the body of its call arrives, or while its export is sent. */
  async function identifyAgain(request: Request, { scope }: HttpOperation): Promise<Caller> {
    const caller = await identify(request, options, createDeadline(timeLimit))
    requireScope(caller.keyContext, scope)
    return caller
  }

  async function perform(call: Call<Request>, caller: Caller, operation: HttpOperation): Promise<HandlerResponse> {
    const { keyContext, limiterKey } = caller
    const { request, input, progress } = call
    const registering = {
      timeLimit,
      checkNames,
      claimRecord,
      waiting,
      onError: (cause: unknown) => reportFailure(call, cause, 'register'),
    }
    const answer = await runOperation(operation, { keyContext, input, store, options: registering, progress })
    reportResult(call, 200, 'data' in answer ? answer.data : null)
    if (operation === operations.list) addOperations(answer as ListDomainsResponse, keyContext)
    if ('data' in answer) return respond(200, answer, call.headers)
    const text = writeExport(answer, {
      report: (error, failed) => reportFailure(call, error, failed),
      async requireCaller() {
        const again = await identifyAgain(request, operation)
        if (again.limiterKey !== limiterKey) throw unauthorized({ tokenSent: true })
      },
    })
    return respondWithStream(answer.format, text, call.headers)
  }

  /** A page hides what its user may not do, and need not try it first. */
  function addOperations({ data }: ListDomainsResponse, { scopes }: KeyContext): void {
    const { operations: offered = DEFAULT_OPERATIONS } = options
    data.operations = offered.filter(name => scopes.includes(operations[name].scope))
  }

  function fail(call: Call<Request>, error: unknown): HandlerResponse {
    const apiError = toApiError(error)
    const { saved, step = call.step } = call.progress
    if (saved && saved.data.totals.created > 0) reportResult(call, 503, saved.data)
    if (apiError.status >= 500) reportFailure(call, apiError.cause ?? apiError, step)
    return respondWithError(apiError, call.headers)
  }

  function reportFailure(call: Call<Request>, error: unknown, step: Step): void {
    ignoreErrors(() => onError(error, { ...toContext(call), step }))()
  }

  function reportResult(call: Call<Request>, status: 200 | 503, data: unknown): void {
    const duration = performance.now() - call.startedAt
    ignoreErrors(() => onResult?.({ ...toContext(call), status, data, duration } as ResultContext<Request>))()
  }
}

/**
 * Does with its options what every adapter does that finds the operation of a request itself: checks them, creates the
 * handler, and fills in the defaults.
 *
 * @param rules The rules for the options that only this adapter accepts.
 * @throws {TypeError} if an option is missing, invalid or unknown.
 */
export function openAdapter<Request extends HandlerRequest>(
  options: HandlerOptions<Request> & PathOption,
  rules: Rules = {},
) {
  requireOptions(options, { ...handlerRules, path: pathRule, ...rules })
  const { path = DEFAULT_PATH, operations: offered = DEFAULT_OPERATIONS } = options
  const { bodyTimeLimit = DEFAULT_BODY_TIME_LIMIT, pageTimeLimit = DEFAULT_PAGE_TIME_LIMIT } = options
  return { handle: openHandler(options), path: withoutTrailingSlash(path), offered, bodyTimeLimit, pageTimeLimit }
}

/** What is known of a call. Each step adds to it. */
interface Call<Request extends HandlerRequest> {
  readonly request: Request
  readonly startedAt: number
  /** The step that has begun last; once the operation runs, `progress` has its steps. */
  step: Step
  /** The headers of the rate limit, for every response from then on. */
  headers: Record<string, string>
  caller?: Caller
  /** The parsed body of a POST, or the parameters of a GET. */
  input?: unknown
  /** How far the operation has come. */
  readonly progress: CallProgress
}

const toContext = <Request extends HandlerRequest>(call: Call<Request>): CallContext<Request> => ({
  request: call.request,
  operation: call.request.operation ?? 'create',
  requestId: call.request.id,
  keyContext: call.caller?.keyContext,
  key: call.caller?.key,
  teamId: call.progress.traced.teamId ?? readTeamId(call),
  count: readCount(call.input),
})

/** The team that a call names, until it is found. An ID that cannot be printed is left out. */
function readTeamId({ input, caller }: Call<HandlerRequest>): string | undefined {
  const { team_id: asked } = (input ?? {}) as { team_id?: unknown }
  const teamId = caller?.keyContext.type === 'team' ? caller.keyContext.teamId : asked
  return typeof teamId === 'string' && /^[\x21-\x7e]{1,100}$/.test(teamId) ? teamId : undefined
}

function readCount(input: unknown): number | undefined {
  const { domains } = (input ?? {}) as { domains?: unknown }
  return Array.isArray(domains) ? domains.length : undefined
}

/** If the body of a call took longer than this many milliseconds, the call's key is looked up again. */
const KEY_IS_CURRENT_FOR = 20

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
