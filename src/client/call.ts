import { toPlainText } from '../errors/plain-text.ts'
import { isFunction, isText, matches, optional, type Rules } from '../options.ts'
import { httpUrlRule, type ReceivedResponse, sendRequest } from '../outgoing/send-request.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { runWithin, timeLimitRule } from '../time/deadline.ts'
import type { Failure } from './errors.ts'

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
   * Whether a browser sends cookies, as for `fetch`. A page with a session on the service's own origin needs neither a
   * key nor headers. Default `same-origin`.
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
/** The maximum size of a body, in MiB after decompression: several times the service's largest response. */
const BODY_LIMIT = 4

/** The outcome of sending a call once. */
type Attempt<Value> = { readonly value: Value } | { readonly failure: CallFailure }

export interface CallFailure extends Failure {
  /** Whether the same call may succeed later. */
  readonly mayPass: boolean
  /** How long the client must wait before the next attempt, according to the response, in milliseconds. */
  readonly retryAfter?: number | undefined
}

/** A call, and how its response is read. */
export interface Call<Value> {
  readonly url: string | URL
  /** Sent as JSON with POST. Without a body, the call is a GET. */
  readonly body?: object
  /** Turns the parsed body of a 200 into the value. Throws an error if the body is wrong; the message says why. */
  readonly read: (body: unknown) => Value
}

/**
 * Sends a call once.
 *
 * @throws The signal's reason, once the signal is aborted. Any other failure is returned.
 */
export async function sendOnce<Value>(
  { url, body, read }: Call<Value>,
  { apiKey, headers: added, credentials, timeLimit = 60_000, signal, fetch }: CallOptions,
): Promise<Attempt<Value>> {
  let headers: Headers
  try {
    const limits = { milliseconds: timeLimit, message: `"headers" returned nothing within ${timeLimit} ms`, signal }
    headers = new Headers(typeof added === 'function' ? await runWithin(limits, added) : added)
  } catch (cause) {
    signal?.throwIfAborted()
    return { failure: { code: 'headers_failed', message: 'The function "headers" failed.', mayPass: false, cause } }
  }
  const secrets = { apiKey, headers: new Headers(headers) }
  if (apiKey !== undefined) headers.set('Authorization', `Bearer ${apiKey}`)
  if (body) headers.set('Content-Type', 'application/json')
  const init: RequestInit = { method: body ? 'POST' : 'GET', headers }
  if (body) init.body = JSON.stringify(body)
  if (credentials !== undefined) init.credentials = credentials
  try {
    const received = await sendRequest(url, init, { fetch, timeLimit, bodyLimit: BODY_LIMIT * 1024 * 1024, signal })
    return toAttempt(received, read, url, secrets)
  } catch (cause) {
    signal?.throwIfAborted()
    const message = 'The response was lost, or none arrived.'
    return { failure: { code: 'unreachable', message, mayPass: true, cause } }
  }
}

const LONGEST_BACKOFF = 30_000

/**
 * Returns the longer of `Retry-After` and the backoff, in milliseconds: a service may send 0 although it is overloaded.
 * Jitter keeps many callers from retrying at once. It makes a `Retry-After` up to a tenth longer, never shorter.
 */
export function toWait(failures: number, retryAfter = 0): number {
  const backoff = Math.min(LONGEST_BACKOFF, 500 * 2 ** failures) * (0.5 + Math.random() / 2)
  return Math.max(backoff, retryAfter + Math.min(LONGEST_BACKOFF, retryAfter / 10) * Math.random())
}

/** Longer codes and messages of the service are cut, because they are logged and shown on terminals. */
const LONGEST_TEXT = 1000

/** What no message may show: the API key, and the values of the headers that the caller adds. */
interface Secrets {
  readonly apiKey?: string | undefined
  readonly headers?: Headers | undefined
}

/** A shorter value of a header, such as `1` or `en`, is no secret, and replacing it would make messages unreadable. */
const SHORTEST_SECRET = 8

/**
 * Turns text from a response into one line, and replaces secrets in it, because a proxy may have copied the request's
 * headers into the response.
 */
export function toSafeText(text: string, { apiKey, headers = new Headers() }: Secrets): string {
  const values = [...headers.values()].flatMap(value => [value, ...value.split(/[\s;,=]+/)])
  const secrets = values.filter(({ length }) => length >= SHORTEST_SECRET)
  const withoutKey = apiKey === undefined ? text : text.replaceAll(apiKey, '[API key]')
  const safe = secrets.reduce((part, secret) => part.replaceAll(secret, '[header]'), withoutKey)
  return toPlainText(safe, LONGEST_TEXT)
}

function toAttempt<Value>(
  received: ReceivedResponse,
  read: (body: unknown) => Value,
  url: string | URL,
  secrets: Secrets,
): Attempt<Value> {
  const { status, retryAfter, mediaType, text, isCut } = received
  const fail = (code: CallFailure['code'], message: string, mayPass = false) => ({
    // In browsers, a redirect has the status 0.
    failure: { status: status || undefined, code, message, mayPass, retryAfter },
  })
  const body = parseJson(text)
  if (status < 200 || (status >= 300 && status < 400)) {
    return fail('redirected', toSafeText(describeRedirect(received, url), secrets))
  }
  if (status !== 200) {
    const [error, message] = [get(body, 'error'), get(body, 'message')]
    const mayPass = status === 408 || status === 429 || status >= 500
    const code = isText(error) ? toSafeText(error, secrets) : mayPass ? 'unavailable' : 'not_from_service'
    return fail(code, isText(message) ? toSafeText(message, secrets) : `The response was HTTP ${status}.`, mayPass)
  }
  if (isCut) return fail('unexpected_response', `The response is larger than ${BODY_LIMIT} MiB.`)
  if (body === undefined) {
    // If the JSON was cut short, a retry may get the complete response. After a login page, it would get the same page.
    const isCutShort = /json/i.test(mediaType) && /^\s*(\{|$)/.test(text)
    if (isCutShort) return fail('unreachable', 'The response is not complete JSON.', true)
    const type =
      mediaType === '' ? 'without a content type' : `with the content type "${toSafeText(mediaType, secrets)}"`
    const message = `The response is not JSON: HTTP ${status} ${type}. It comes from another service, or from a proxy.`
    return fail('not_from_service', message)
  }
  try {
    return { value: read(body) }
  } catch (cause) {
    const message = `The response does not belong to this operation: ${(cause as Error).message}.`
    return fail('unexpected_response', message)
  }
}

/**
 * The client follows no redirect: `fetch` could turn the POST into a GET, or send the key to another server. The
 * message names where it leads only on the same origin, and without a query, which may contain a token.
 */
function describeRedirect({ location }: ReceivedResponse, url: string | URL): string {
  const { href, origin } = new URL(url)
  const target = location !== undefined && URL.canParse(location, href) ? new URL(location, href) : undefined
  const isAtSlash = target === undefined ? href.endsWith('/') : `${target.href}/` === href
  const place = target?.origin === origin ? ` to "${target.pathname}"` : target ? ' to another server' : ''
  const advice = isAtSlash ? 'use the address without the slash' : 'use the address to which the service redirects'
  return `The call was redirected${place}; ${advice}.`
}

/** @returns The parsed text; `undefined` if the text is not JSON, for instance because it was cut short. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws {Error} if a field is not a string; the message names the first such field. */
export function requireTexts(path: string, value: unknown, fields: readonly string[]): void {
  const wrong = fields.find(field => !isText(get(value, field)))
  if (wrong !== undefined) throw new Error(`${path}.${wrong} is not a string`)
}

/** Returns a property of a parsed body, or `undefined` if there is none. */
export function get(value: unknown, property: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[property] : undefined
}
