import { isFunction, isText, matches, optional, type Rules } from '../options.ts'
import { httpUrlRule, sendRequest } from '../outgoing/send-request.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { runWithin } from '../time/run-within.ts'
import { type Attempt, type CallFailure, toAttempt } from './answer.ts'

/**
 * Headers for every call, or a function that returns them. The function is called before each call and may be
 * asynchronous, for instance to renew a token that expires. If it throws or rejects, the work ends.
 *
 * @example
 * const headers: CallHeaders = async () => ({ Authorization: `Bearer ${await getToken()}` })
 */
export type CallHeaders = RequestInit['headers'] | (() => Awaitable<RequestInit['headers']>)

/** Options that all functions of the client accept. */
export interface CallOptions {
  /** The URL for registering, even if you call another operation: `https://api.example.com/v1/domains`. */
  url: string | URL
  /** Sent as `Authorization: Bearer <API key>`. Without a key, the client sends no such header of its own. */
  apiKey?: string | undefined
  /** Headers to add to each call, for instance the token of a session. Messages do not show their values. */
  headers?: CallHeaders | undefined
  /**
   * Whether a browser sends cookies, as for `fetch`. Default `same-origin`: a page with a session on the service's own
   * origin needs neither a key nor headers.
   */
  credentials?: RequestCredentials | undefined
  /** The team to act in. Required with an organization key, ignored with a team key. */
  teamId?: string | undefined
  /**
   * The client gives up once all calls have failed for this many milliseconds, 0 or more. Default 1,800,000 (half an
   * hour). The client gives up earlier if the next retry would come after this time, so a longer `Retry-After` ends the
   * work at once. With a patience of 0, the first failure ends the work.
   */
  patience?: number | undefined
  /** Milliseconds to wait for a response, at most 2,147,483,647. Default 60,000. */
  timeLimit?: number | undefined
  /** Aborts the work. The promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Replaces the global `fetch`, for instance to use a proxy. */
  fetch?: typeof globalThis.fetch | undefined
}

/** The rules for the options that all functions of the client accept. */
export const callRules: Rules = {
  url: httpUrlRule('https://api.example.com/v1/domains'),
  apiKey: {
    holds: optional(matches(/^[\x21-\x7e]+$/)),
    expected: 'an API key, without white space around it',
    isSecret: true,
  },
  headers: {
    holds: optional(headers => isFunction(headers) || areHeaders(headers)),
    expected: 'headers such as { "X-CSRF-Token": token }, or a function that returns them',
    isSecret: true,
  },
  credentials: {
    holds: optional(matches(/^(?:omit|same-origin|include)$/)),
    expected: '"omit", "same-origin" or "include"',
  },
  teamId: { holds: optional(isText), expected: 'the ID of a team, a string of digits' },
  patience: {
    holds: optional(value => typeof value === 'number' && value >= 0),
    expected: 'a number of milliseconds, 0 or more',
  },
  timeLimit: timeLimitRule,
  signal: { holds: optional(signal => signal instanceof AbortSignal), expected: 'an AbortSignal' },
  fetch: { holds: optional(isFunction), expected: 'a function like fetch' },
}

function areHeaders(value: unknown): boolean {
  try {
    return typeof value === 'object' && new Headers(value as RequestInit['headers']) instanceof Headers
  } catch {
    return false
  }
}

export const onProgressRule = { holds: optional(isFunction), expected: 'a function that takes the progress' }

export const DEFAULT_PATIENCE = 1_800_000
const DEFAULT_TIME_LIMIT = 60_000
/**
 * The maximum size of a body, in bytes after decompression: several times the size of the service's largest response.
 */
const BODY_LIMIT = 4 * 1024 * 1024

export interface Call<Value> {
  readonly url: string | URL
  /** Sent as JSON with POST. Without a body, the call is a GET. */
  readonly body?: object
  /** Reads the body of the response; see {@link toAttempt}. */
  readonly read: (body: unknown) => Value
}

/**
 * Why the client gave up. Changes that earlier calls made are not undone.
 *
 * @example
 * if (error instanceof CallError) console.error(`${error.status} ${error.code}: ${error.message}`)
 */
export class CallError extends Error {
  override readonly name: string = 'CallError'
  /** The HTTP status of the last response, or `undefined` if there was no response. */
  readonly status: number | undefined
  /**
   * The code of the last response, such as `unauthorized`. `internal_error` if names still had that result at the end;
   * `undefined` if there was no response, or if the response did not come from the service.
   */
  readonly code: string | undefined

  constructor({ status, code, message, cause }: CallFailure) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/**
 * Sends a call. Retries it if its response was lost, and after 408, 429 and 5xx.
 *
 * @throws {CallError} if a retry would not change the response, or if the next retry would come after `patience` has
 *   passed.
 */
export async function send<Value>(call: Call<Value>, options: CallOptions): Promise<Value> {
  const { patience = DEFAULT_PATIENCE, signal } = options
  const startedAt = performance.now()
  for (let failures = 1; ; failures += 1) {
    const attempt = await sendOnce(call, options)
    if ('value' in attempt) return attempt.value
    const { failure } = attempt
    const wait = toWait(failures, failure.retryAfter)
    if (!failure.mayPass || performance.now() - startedAt + wait > patience) throw new CallError(failure)
    await sleep(wait, signal)
  }
}

/** @throws The signal's reason, once the signal is aborted. Any other failure is returned. */
export async function sendOnce<Value>(
  { url, body, read }: Call<Value>,
  { apiKey, headers: added, credentials, timeLimit = DEFAULT_TIME_LIMIT, signal, fetch }: CallOptions,
): Promise<Attempt<Value>> {
  let headers: Headers
  try {
    const limits = { milliseconds: timeLimit, message: `"headers" returned nothing within ${timeLimit} ms`, signal }
    headers = new Headers(typeof added === 'function' ? await runWithin(limits, added) : added)
  } catch (cause) {
    signal?.throwIfAborted()
    return { failure: { message: 'The function "headers" failed.', mayPass: false, cause } }
  }
  const secrets = { apiKey, headers: new Headers(headers) }
  if (apiKey !== undefined) headers.set('Authorization', `Bearer ${apiKey}`)
  if (body) headers.set('Content-Type', 'application/json')
  const init: RequestInit = { method: body ? 'POST' : 'GET', headers }
  if (body) init.body = JSON.stringify(body)
  if (credentials !== undefined) init.credentials = credentials
  try {
    const received = await sendRequest(url, init, { fetch, timeLimit, bodyLimit: BODY_LIMIT, signal })
    return toAttempt(received, read, url, secrets)
  } catch (cause) {
    signal?.throwIfAborted()
    return { failure: { message: 'The response was lost, or none arrived.', mayPass: true, cause } }
  }
}

/**
 * Returns the longer of `Retry-After` and the backoff, in milliseconds: a service may send 0 although it is overloaded.
 * The backoff is exponential, at most 30 s, with jitter so that many callers do not retry at once.
 */
export const toWait = (failures: number, retryAfter = 0): number =>
  Math.max(retryAfter, Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2))

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => resolve(signal?.removeEventListener('abort', onAbort)), milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
  })
}
